import { EvaluatorError } from "../errors.ts";
import { toConnectionError } from "./connection-failure.ts";
import { decodeBody } from "./content-coding.ts";
import { BodyCollector, findHeader, type HttpResponse, isSuccess } from "./http-response.ts";
import type { PreparedRequest, Receiver } from "./undici-exchange.ts";

const utf8 = new TextDecoder();

/** Reads a whole response. */
export class WholeResponse implements Receiver {
  readonly #outcome = Promise.withResolvers<HttpResponse>();
  readonly response = this.#outcome.promise;
  readonly #request: PreparedRequest;
  readonly #receivedBodyCollector = new BodyCollector();
  #head: Parameters<Receiver["onStart"]>[0] | null = null;

  constructor(request: PreparedRequest) {
    this.#request = request;
  }

  onStart(head: Parameters<Receiver["onStart"]>[0]): void {
    this.#head = head;
  }

  onChunk(chunk: Uint8Array): void {
    this.#receivedBodyCollector.add(chunk);
  }

  onEnd(): void {
    const contentEncoding = findHeader({ headers: this.#head?.headers ?? {} }, "content-encoding");
    const bytes = this.#receivedBodyCollector.bytes();
    if (contentEncoding === null) return this.#succeed(bytes);
    decodeBody(bytes, contentEncoding, this.#request.endpoint).then(
      (decodedBytes) => this.#succeed(decodedBytes),
      (error: Error) => this.onError(error, true),
    );
  }

  onError(error: Error, wasSent: boolean): void {
    // A broken body must not hide an error status.
    if (this.#head !== null && !isSuccess(this.#head.status)) this.#succeed(new Uint8Array());
    else this.#outcome.reject(this.#toFailure(error, wasSent));
  }

  onAbort(reason: unknown): void {
    this.#outcome.reject(reason);
  }

  #succeed(bytes: Uint8Array): void {
    const { status = 0, headers = {} } = this.#head ?? {};
    this.#outcome.resolve({ status, headers, text: utf8.decode(bytes) });
  }

  #toFailure(error: Error, wasSent: boolean): Error {
    if (error instanceof EvaluatorError) return error;
    // A parser's error contains received bytes, which may repeat the request.
    const keepCause = !error.name.includes("HTTPParserError");
    return toConnectionError(error, { ...this.#request, keepCause, wasSent });
  }
}
