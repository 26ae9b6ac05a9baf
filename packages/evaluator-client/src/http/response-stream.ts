import { once } from "node:events";
import type { Duplex } from "node:stream";
import { createDecoders } from "./content-coding.ts";
import { type ChunkSink, findHeader, type StreamedResponse } from "./http-response.ts";
import type { Controller, Receiver } from "./undici-exchange.ts";

type Read = StreamedResponse["read"];

/** Passes a response on as it arrives, and holds it up while it is not read. */
export class ResponseStream implements Receiver {
  readonly #head = Promise.withResolvers<StreamedResponse>();
  readonly response = this.#head.promise;
  readonly #whole = Promise.withResolvers<void>();
  #controller: Controller | null = null;
  /** Chunks that wait for the sink. */
  readonly #heldChunks: Uint8Array[] = [];
  #sink: ChunkSink | null = null;
  #isTaking = false;
  #isPaused = false;
  /** The end of the body, which its chunks come before. */
  #end: { readonly error: Error | null } | null = null;

  constructor() {
    this.#whole.promise.catch(() => undefined); // a response may not be read
  }

  onStart(head: Omit<StreamedResponse, "read">, controller: Controller | null): void {
    this.#controller = controller;
    const contentEncoding = findHeader(head, "content-encoding");
    const read: Read = (sink) => {
      const decoders = contentEncoding === null ? [] : createDecoders(contentEncoding);
      const readAll = decoders.reduce<Read>(
        (inner, decoder) => (to) => this.#readThrough(inner, decoder, to),
        (to) => this.#read(to),
      );
      return readAll(sink);
    };
    this.#head.resolve({ ...head, read });
  }

  onChunk(chunk: Uint8Array): void {
    if (chunk.length === 0) return; // undici gives one each time that it goes on
    this.#heldChunks.push(chunk);
    this.#pass();
  }

  onEnd(): void {
    this.#end = { error: null };
    this.#pass();
  }

  onError(cause: Error): void {
    const error = new TypeError("fetch failed", { cause });
    this.#head.reject(error);
    this.#end ??= { error };
    this.#pass();
  }

  onAbort(reason: unknown): void {
    this.#head.reject(reason);
    this.#whole.reject(reason);
  }

  #read(sink: ChunkSink): Promise<void> {
    this.#sink = sink;
    this.#pass();
    return this.#whole.promise;
  }

  #pass(): void {
    while (this.#sink !== null && !this.#isTaking && this.#heldChunks.length > 0) {
      this.#give(this.#heldChunks.shift() as Uint8Array, this.#sink);
    }
    const isPaused = this.#isTaking || this.#sink === null;
    if (this.#end === null && isPaused !== this.#isPaused) this.#setPaused(isPaused);
    if (isPaused || this.#end === null) return;
    if (this.#end.error === null) this.#whole.resolve();
    else this.#whole.reject(this.#end.error);
  }

  #setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (isPaused) this.#controller?.pause();
    else this.#controller?.resume();
  }

  #give(chunk: Uint8Array, sink: ChunkSink): void {
    try {
      const taking = sink(chunk);
      if (taking === undefined) return;
      this.#isTaking = true;
      const onTaken = () => {
        this.#isTaking = false;
        this.#pass();
      };
      taking.then(onTaken, (error: unknown) => this.#fail(error));
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Ends the response for an error of its reader. */
  #fail(error: unknown): void {
    this.#sink = () => undefined;
    this.#whole.reject(error);
    this.#controller?.abort(new DOMException("The response was not read.", "AbortError"));
  }

  async #readThrough(read: Read, decoder: Duplex, sink: ChunkSink): Promise<void> {
    const write: ChunkSink = (chunk) => {
      if (decoder.destroyed) throw new TypeError("The response was not read.");
      return decoder.write(chunk) ? undefined : once(decoder, "drain").then(() => undefined);
    };
    read(write).then(
      () => decoder.end(),
      (error: Error) => decoder.destroy(error),
    );
    try {
      for await (const chunk of decoder) await sink(chunk as Uint8Array);
    } catch (error) {
      this.#fail(error);
      const isOfCoding = Object(error).code !== undefined;
      throw isOfCoding ? new TypeError("The body cannot be decoded.", { cause: error }) : error;
    }
  }
}
