import type { OutgoingHttpHeaders } from "node:http2";
import { promisify } from "node:util";
// A namespace import: if an old Node lacks one of the names, a named import fails with a useless error.
import * as zlib from "node:zlib";
import type { Dispatcher } from "undici";
import { ConfigurationError, ConnectionError, EvaluatorError } from "../errors.ts";
import { billingOf, toConnectionError } from "./connection-failure.ts";
import type { Abortable, HttpEndpoint } from "./http-client.ts";
import {
  BodyCollector,
  bodyTooLarge,
  headerOf,
  type HttpResponse,
  isSuccess,
  MAX_BODY_BYTES,
  type ResponseHeaders,
} from "./http-response.ts";

/** The common part of requests to an endpoint, in the forms of both protocols. */
interface PreparedRequest {
  readonly endpoint: HttpEndpoint;
  /** A sentence for an error if no connection was made. */
  readonly hint: string;
  readonly http1: Omit<Dispatcher.DispatchOptions, "body">;
  readonly http2Headers: OutgoingHttpHeaders;
}

const utf8 = new TextDecoder();

/** One request and its response; without the stream of `undici.request`, it costs a third less (benchmark: calls). */
export class UndiciExchange implements Dispatcher.DispatchHandler {
  readonly request: PreparedRequest;
  readonly body: string | null;
  readonly response: Promise<HttpResponse>;
  /** Whether no caller waits for a response any more. */
  isOver = false;
  /** How often a server has not processed it. */
  refusals = 0;
  readonly #abortable: Abortable;
  readonly #outcome = Promise.withResolvers<HttpResponse>();
  readonly #received = new BodyCollector();
  #controller: Pick<Dispatcher.DispatchController, "abort"> | null = null;
  #stopListening: (() => void) | null = null;
  #status: number | null = null;
  #headers: ResponseHeaders = {};

  constructor(request: PreparedRequest, body: string | null, abortable: Abortable) {
    this.request = request;
    this.body = body;
    this.#abortable = abortable;
    abortable.wasSent ??= false;
    this.response = this.#outcome.promise;
    this.#stopListening = whenAborted(abortable, (reason) => {
      this.#outcome.reject(reason);
      this.#end();
    });
  }

  /** undici calls this as it begins to write the request, and not before. */
  onRequestStart(controller: Pick<Dispatcher.DispatchController, "abort">): void {
    this.#controller = controller;
    this.#abortable.wasSent = true;
    if (this.isOver) this.#end();
  }

  /** Notes that the server has surely not processed the request, which may be sent again. */
  onUnprocessed(): void {
    this.refusals += 1;
    this.#controller = null;
    this.#abortable.wasSent = false;
  }

  onResponseStart(_: unknown, status: number, headers: ResponseHeaders): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_: unknown, chunk: Uint8Array): void {
    try {
      this.#received.add(chunk);
    } catch (error) {
      this.onResponseError(null, error as Error); // the body is too large
    }
  }

  onResponseEnd(): void {
    const contentEncoding = headerOf({ headers: this.#headers }, "content-encoding");
    const bytes = this.#received.bytes();
    if (contentEncoding === null) return this.#succeed(bytes);
    decodeBody(bytes, contentEncoding, this.request.endpoint).then(
      (decoded) => this.#succeed(decoded),
      (error: Error) => this.onResponseError(null, error),
    );
  }

  onResponseError(_: unknown, error: Error): void {
    // A broken body must not hide an error status.
    if (this.#status === null || isSuccess(this.#status))
      this.#outcome.reject(this.#toFailure(error));
    else this.#succeed(new Uint8Array());
    this.#end();
  }

  #succeed(bytes: Uint8Array): void {
    const status = this.#status as number;
    this.#outcome.resolve({ status, headers: this.#headers, text: utf8.decode(bytes) });
    this.#stopListening?.();
  }

  #end(): void {
    this.isOver = true;
    this.#stopListening?.();
    this.#controller?.abort(new DOMException("The request was aborted.", "AbortError"));
  }

  #toFailure(error: Error): Error {
    if (error instanceof EvaluatorError) return error;
    // A parser's error contains received bytes, which may repeat the request.
    const keepCause = !error.name.includes("HTTPParserError");
    const wasSent = this.#controller !== null;
    return toConnectionError(error, { ...this.request, keepCause, wasSent });
  }

  /** undici 6 calls this before it sends; the other events of its handlers have other names too. */
  onConnect(abort?: (error: Error) => void): void {
    const message = "The dispatcher is of undici 6; use one of undici 7 or 8.";
    const error = new ConfigurationError(message, { option: "dispatcher" });
    this.onResponseError(null, error);
    // An interceptor of undici 6 has the other events itself, and would send the request.
    abort?.(error);
  }

  /** undici 6 calls this if it misses other events. */
  onError(): void {
    this.onConnect();
  }
}

/** Calls back with the reason when it aborts. The returned function, if any, stops that. */
function whenAborted(abortable: Abortable, listener: (reason: unknown) => void) {
  if (abortable.onAbort !== undefined) {
    abortable.onAbort(listener);
    return null;
  }
  const { signal } = abortable;
  const onAbort = () => listener(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  return () => signal.removeEventListener("abort", onAbort);
}

// Each chunk goes to another thread and back: 1.2 MB take 7 ms, and 40 ms in chunks of Node's 16 KiB.
const limits = { maxOutputLength: MAX_BODY_BYTES, chunkSize: 256 * 1024 };

const decoders = new Map<
  string,
  (bytes: Uint8Array, options: typeof limits) => Promise<Uint8Array>
>([
  ["gzip", promisify(zlib.gunzip)],
  ["x-gzip", promisify(zlib.gunzip)],
  ["deflate", promisify(zlib.inflate)],
  ["br", promisify(zlib.brotliDecompress)],
  ["zstd", promisify(zlib.zstdDecompress)],
]);

/** Undoes the `content-encoding` of a body, last coding first, never past {@link MAX_BODY_BYTES}. */
async function decodeBody(bytes: Uint8Array, contentEncoding: string, endpoint: HttpEndpoint) {
  const codings = contentEncoding.split(",").map((coding) => coding.trim().toLowerCase());
  let decoded = bytes;
  for (const coding of codings.toReversed()) {
    if (coding === "" || coding === "identity") continue;
    const decode = decoders.get(coding);
    if (decode === undefined) {
      throw unreadable(`its encoding "${coding.slice(0, 20)}" is not known`, endpoint);
    }
    decoded = await decode(decoded, limits).catch(({ code }: NodeJS.ErrnoException) => {
      if (code === "ERR_BUFFER_TOO_LARGE") throw bodyTooLarge();
      throw unreadable(`its ${coding} data is broken or cut off`, endpoint);
    });
  }
  return decoded;
}

function unreadable(reason: string, endpoint: HttpEndpoint): ConnectionError {
  const { maybeBilled, note } = billingOf(endpoint);
  const message = `The response body cannot be decoded: ${reason}${note}.`;
  return new ConnectionError(message, { isRetryable: true, maybeBilled });
}
