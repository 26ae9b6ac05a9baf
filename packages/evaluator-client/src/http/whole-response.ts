import { EvaluatorError } from "../errors.ts";
import { toConnectionError } from "./connection-failure.ts";
import { decodeBody } from "./content-coding.ts";
import { BodyCollector, findHeader, type HttpResponse, isSuccess } from "./http-response.ts";
import type { PreparedRequest, Receiver } from "./undici-exchange.ts";

const utf8Decoder = new TextDecoder();

/** Reads a whole response. */
export class WholeResponse implements Receiver {
  readonly #outcome = Promise.withResolvers<HttpResponse>();
  readonly response = this.#outcome.promise;
  readonly #request: PreparedRequest;
  readonly #receivedBodyCollector = new BodyCollector();
  #responseHead: Parameters<Receiver["onStart"]>[0] | null = null;

  constructor(request: PreparedRequest) {
    this.#request = request;
  }

  onStart(startedHead: Parameters<Receiver["onStart"]>[0]): void {
    this.#responseHead = startedHead;
  }

  onChunk(bodyChunk: Uint8Array): void {
    this.#receivedBodyCollector.addChunk(bodyChunk);
  }

  onEnd(): void {
    const contentEncoding = findHeader(
      { headers: this.#responseHead?.headers ?? {} },
      "content-encoding",
    );
    const receivedBytes = this.#receivedBodyCollector.joinBytes();
    if (contentEncoding === null) return this.#succeed(receivedBytes);
    decodeBody(receivedBytes, contentEncoding, this.#request.endpoint).then(
      (decodedBytes) => this.#succeed(decodedBytes),
      (decodingError: Error) => this.onError(decodingError, true),
    );
  }

  onError(connectionError: Error, wasSent: boolean): void {
    // A broken body must not hide an error status.
    if (this.#responseHead !== null && !isSuccess(this.#responseHead.status))
      this.#succeed(new Uint8Array());
    else this.#outcome.reject(this.#toFailure(connectionError, wasSent));
  }

  onAbort(abortReason: unknown): void {
    this.#outcome.reject(abortReason);
  }

  #succeed(bodyBytes: Uint8Array): void {
    const { status = 0, headers = {} } = this.#responseHead ?? {};
    this.#outcome.resolve({ status, headers, text: utf8Decoder.decode(bodyBytes) });
  }

  #toFailure(error: Error, wasSent: boolean): Error {
    if (error instanceof EvaluatorError) return error;
    // A parser's error contains received bytes, which may repeat the request.
    const keepCause = !error.name.includes("HTTPParserError");
    return toConnectionError(error, { ...this.#request, keepCause, wasSent });
  }
}
