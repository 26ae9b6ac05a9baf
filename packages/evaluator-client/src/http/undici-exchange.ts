import type { IncomingHttpHeaders } from "node:http";
import { type Dispatcher, errors } from "undici";
import { EvaluatorError } from "../errors.ts";
import { type Abortable, whenAborted } from "./abortable.ts";
import { BodyCollector } from "./body-collector.ts";
import { toConnectionError } from "./connection-failure.ts";
import { decodeBody } from "./decode-body.ts";
import { decodeText } from "./decode-text.ts";
import { type HttpEndpoint, type HttpResponse, isSuccess } from "./http-client.ts";

/**
 * One request and its whole response. It takes undici's events itself, without the stream that
 * `undici.request` puts around a body, and so costs a third less (benchmark: calls).
 */
export class UndiciExchange implements Dispatcher.DispatchHandler {
  readonly #endpoint: HttpEndpoint;
  readonly #outcome = Promise.withResolvers<HttpResponse>();
  readonly #body = new BodyCollector();
  #controller: Dispatcher.DispatchController | null = null;
  #stopListening: () => void = () => undefined;
  #isOver = false;
  #status: number | null = null;
  #headers: IncomingHttpHeaders = {};

  constructor(endpoint: HttpEndpoint, abortable: Abortable) {
    this.#endpoint = endpoint;
    this.#stopListening = whenAborted(abortable, (reason) => {
      this.#outcome.reject(reason);
      this.#end();
    });
  }

  /** Whether nobody waits for a response any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The response, once it is whole. */
  get response(): Promise<HttpResponse> {
    return this.#outcome.promise;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) this.#end();
  }

  onResponseStart(_: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_: unknown, chunk: Uint8Array): void {
    this.#body.add(chunk);
  }

  onResponseEnd(): void {
    const contentEncoding = this.#header("content-encoding");
    const bytes = this.#body.bytes();
    if (contentEncoding === null) return this.#succeed(bytes);
    decodeBody(bytes, { contentEncoding, endpoint: this.#endpoint }).then(
      (decoded) => this.#succeed(decoded),
      (error: Error) => this.onResponseError(null, error),
    );
  }

  onResponseError(_: unknown, error: Error): void {
    // An error status says enough by itself, so a broken body does not hide it.
    if (this.#status === null || isSuccess(this.#status))
      this.#outcome.reject(this.#toFailure(error));
    else this.#succeed(new Uint8Array());
    this.#end();
  }

  #succeed(bytes: Uint8Array): void {
    const status = this.#status as number;
    const header = (name: string) => this.#header(name);
    this.#outcome.resolve({ status, header, text: decodeText(bytes) });
    this.#stopListening();
  }

  #end(): void {
    this.#isOver = true;
    this.#stopListening();
    this.#controller?.abort(new errors.RequestAbortedError());
  }

  #header(name: string): string | null {
    const value = this.#headers[name];
    return (Array.isArray(value) ? value[0] : value) ?? null;
  }

  #toFailure(error: Error): Error {
    if (error instanceof EvaluatorError) return error;
    // A parser's error holds the bytes it met, and they may repeat the request.
    const keepCause = !(error instanceof errors.HTTPParserError);
    return toConnectionError(error, { endpoint: this.#endpoint, keepCause });
  }
}
