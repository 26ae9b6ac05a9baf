import { once } from "node:events";
import type { Duplex } from "node:stream";
import { createDecoders } from "./content-coding.ts";
import { type ChunkSink, findHeader, type StreamedResponse } from "./http-response.ts";
import type { Controller, Receiver } from "./undici-exchange.ts";

type Read = StreamedResponse["read"];

/** Passes a response on as it arrives, and holds it up while it is not read. */
export class ResponseStream implements Receiver {
  readonly #streamedHead = Promise.withResolvers<StreamedResponse>();
  readonly response = this.#streamedHead.promise;
  readonly #wholeBody = Promise.withResolvers<void>();
  #controller: Controller | null = null;
  /** Chunks that wait for the sink. */
  readonly #heldChunks: Uint8Array[] = [];
  #chunkSink: ChunkSink | null = null;
  #isTaking = false;
  #isPaused = false;
  /** The end of the body, which its chunks come before. */
  #streamEnd: { readonly streamError: Error | null } | null = null;

  constructor() {
    this.#wholeBody.promise.catch(() => undefined); // a response may not be read
  }

  onStart(responseHead: Omit<StreamedResponse, "read">, controller: Controller | null): void {
    this.#controller = controller;
    const contentEncoding = findHeader(responseHead, "content-encoding");
    const readChunks: Read = (chunkSink) => {
      const decoders = contentEncoding === null ? [] : createDecoders(contentEncoding);
      const readAll = decoders.reduce<Read>(
        (innerRead, decoder) => (outerSink) => this.#readThrough(innerRead, decoder, outerSink),
        (outerSink) => this.#readChunks(outerSink),
      );
      return readAll(chunkSink);
    };
    this.#streamedHead.resolve({ ...responseHead, read: readChunks });
  }

  onChunk(bodyChunk: Uint8Array): void {
    if (bodyChunk.length === 0) return; // undici gives one each time that it goes on
    this.#heldChunks.push(bodyChunk);
    this.#passChunks();
  }

  onEnd(): void {
    this.#streamEnd = { streamError: null };
    this.#passChunks();
  }

  onError(connectionError: Error): void {
    const streamError = new TypeError("fetch failed", { cause: connectionError });
    this.#streamedHead.reject(streamError);
    this.#streamEnd ??= { streamError };
    this.#passChunks();
  }

  onAbort(abortReason: unknown): void {
    this.#streamedHead.reject(abortReason);
    this.#wholeBody.reject(abortReason);
  }

  #readChunks(chunkSink: ChunkSink): Promise<void> {
    this.#chunkSink = chunkSink;
    this.#passChunks();
    return this.#wholeBody.promise;
  }

  #passChunks(): void {
    while (this.#chunkSink !== null && !this.#isTaking && this.#heldChunks.length > 0) {
      this.#giveChunk(this.#heldChunks.shift() as Uint8Array, this.#chunkSink);
    }
    const isPaused = this.#isTaking || this.#chunkSink === null;
    if (this.#streamEnd === null && isPaused !== this.#isPaused) this.#setPaused(isPaused);
    if (isPaused || this.#streamEnd === null) return;
    if (this.#streamEnd.streamError === null) this.#wholeBody.resolve();
    else this.#wholeBody.reject(this.#streamEnd.streamError);
  }

  #setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (isPaused) this.#controller?.pause();
    else this.#controller?.resume();
  }

  #giveChunk(bodyChunk: Uint8Array, chunkSink: ChunkSink): void {
    try {
      const chunkTaken = chunkSink(bodyChunk);
      if (chunkTaken === undefined) return;
      this.#isTaking = true;
      const onTaken = () => {
        this.#isTaking = false;
        this.#passChunks();
      };
      chunkTaken.then(onTaken, (streamError: unknown) => this.#failStream(streamError));
    } catch (streamError) {
      this.#failStream(streamError);
    }
  }

  /** Ends the response for an error of its reader. */
  #failStream(streamError: unknown): void {
    this.#chunkSink = () => undefined;
    this.#wholeBody.reject(streamError);
    this.#controller?.abort(new DOMException("The response was not read.", "AbortError"));
  }

  async #readThrough(readChunks: Read, decoder: Duplex, chunkSink: ChunkSink): Promise<void> {
    const writeDecoded: ChunkSink = (bodyChunk) => {
      if (decoder.destroyed) throw new TypeError("The response was not read.");
      return decoder.write(bodyChunk) ? undefined : once(decoder, "drain").then(() => undefined);
    };
    readChunks(writeDecoded).then(
      () => decoder.end(),
      (streamError: Error) => decoder.destroy(streamError),
    );
    try {
      for await (const bodyChunk of decoder) await chunkSink(bodyChunk as Uint8Array);
    } catch (streamError) {
      this.#failStream(streamError);
      const isOfCoding = Object(streamError).code !== undefined;
      throw isOfCoding
        ? new TypeError("The body cannot be decoded.", { cause: streamError })
        : streamError;
    }
  }
}
