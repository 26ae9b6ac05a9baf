import {
  ConfigurationError,
  ConnectionError,
  EvaluatorError,
  InvalidResponseError,
} from "../errors.ts";
import { billingOf, toConnectionError } from "./connection-failure.ts";

/** Something that may be aborted before it is done. */
export interface Abortable {
  /** Aborts it; its reason is thrown unchanged. */
  readonly signal: AbortSignal;
  /** Calls back with the reason when it aborts, at once if it has. If present, no signal has to be made. */
  onAbort?(listener: (reason: unknown) => void): void;
}

/** Calls back with the reason when it aborts. The returned function, if any, stops that. */
export function whenAborted(abortable: Abortable, listener: (reason: unknown) => void) {
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

/** Where requests go, and what every one of them carries. */
export interface HttpEndpoint {
  readonly method: "GET" | "POST";
  readonly url: string;
  /** Header name to value, sent as written and in this order. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A response's headers by lower-case name; a list for a header that was repeated. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** One HTTP response with its whole body read. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** The decoded body; empty when an error status came with a body that cannot be read. */
  readonly text: string;
}

/** Sends requests, over connections that it may own. */
export interface HttpClient {
  /**
   * Prepares requests to one endpoint: their common part is computed once. Each is sent once, follows no
   * redirect, and rejects with the reason of an abort.
   */
  prepare(
    endpoint: HttpEndpoint,
  ): (body: string | null, abortable: Abortable) => Promise<HttpResponse>;
  /** Closes the connections that it owns, once their requests are over. */
  close(): Promise<void>;
}

/** An undici `Dispatcher` of any version: an `Agent`, a `Pool`, a `ProxyAgent`, a `MockAgent`. */
export interface AnyDispatcher {
  dispatch(options: never, handler: never): boolean;
}

/** The part of the global `fetch` that this package uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Options of a runtime's HTTP client. */
export interface HttpClientOptions {
  readonly fetch?: Fetch | undefined;
  /** Sends through this dispatcher of the caller's, who also closes it. */
  readonly dispatcher?: AnyDispatcher | undefined;
  /** The environment variables that name proxies. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The largest response body that is read, decoded: 16 MiB. Chosen: no answer is nearly as large. */
export const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Returns whether a status means success (2xx). */
export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** Returns a header by its lower-case name, the first of several, or null. */
export function headerOf({ headers }: Pick<HttpResponse, "headers">, name: string): string | null {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

/** Returns the error for a request after the client was closed. */
export function closedError(): ConfigurationError {
  const message = "The transport or catalog is closed; make another one to send more.";
  return new ConfigurationError(message, { option: "transport" });
}

/** Collects the chunks of a body, up to {@link MAX_BODY_BYTES}. */
export class BodyCollector {
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  /** @throws InvalidResponseError when the body is over the limit. */
  add(chunk: Uint8Array): void {
    this.#length += chunk.byteLength;
    if (this.#length > MAX_BODY_BYTES) throw bodyTooLarge();
    this.#chunks.push(chunk);
  }

  bytes(): Uint8Array {
    const [first] = this.#chunks;
    if (first !== undefined && this.#chunks.length === 1) return first;
    const whole = new Uint8Array(this.#length);
    let offset = 0;
    for (const chunk of this.#chunks) {
      whole.set(chunk, offset);
      offset += chunk.byteLength;
    }
    return whole;
  }
}

/** Returns the error for a body over {@link MAX_BODY_BYTES}. */
export function bodyTooLarge(): InvalidResponseError {
  const message = `The response body is over ${MAX_BODY_BYTES} bytes; check that the base URL is an evaluation service.`;
  return new InvalidResponseError(message, { questionId: null, rule: "body-size" });
}

/** Makes an HTTP client over the given `fetch`, whose connections are not ours to close. */
export function fetchHttpClient(fetch: Fetch): HttpClient {
  let isClosed = false;
  return {
    prepare(endpoint) {
      const { method, url, headers } = endpoint;
      return async (body, { signal }) => {
        if (isClosed) throw closedError();
        try {
          const init = { method, headers, body, signal, redirect: "manual" } as const;
          const response = await fetch(url, init);
          const received = Object.fromEntries(response.headers);
          return { status: response.status, headers: received, text: await readText(response) };
        } catch (error) {
          signal.throwIfAborted();
          if (error instanceof EvaluatorError) throw error;
          throw toConnectionError(error, { endpoint, keepCause: false });
        }
      };
    },
    async close() {
      isClosed = true;
    },
  };
}

/** Makes the HTTP client of other runtimes than Node. @throws ConfigurationError when given a dispatcher. */
export function createHttpClient({ fetch: given, dispatcher }: HttpClientOptions): HttpClient {
  if (dispatcher === undefined) return fetchHttpClient(given ?? ((url, init) => fetch(url, init)));
  const message = `The option "dispatcher" is for Node; in other runtimes pass the option "fetch".`;
  throw new ConfigurationError(message, { option: "dispatcher" });
}

async function readText({ status, body }: Response): Promise<string> {
  const reading = collect(body);
  // A broken body must not hide an error status.
  return isSuccess(status) ? reading : reading.catch(() => "");
}

async function collect(stream: ReadableStream<Uint8Array> | null): Promise<string> {
  if (stream === null) return "";
  const body = new BodyCollector();
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      body.add(read.value);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  return new TextDecoder().decode(body.bytes());
}

/** A response together with its parsed JSON body. */
export interface JsonResponse extends HttpResponse {
  /** The parsed body; undefined when an error status came without JSON. */
  readonly json: unknown;
}

/** Parses a body. @throws ConnectionError if a success is not JSON, InvalidResponseError if a key is repeated. */
export function toJsonResponse(response: HttpResponse, endpoint: HttpEndpoint): JsonResponse {
  const { status, headers, text } = response;
  const json = parseJson(text);
  if (json === undefined && isSuccess(status)) throw unparseable(response, endpoint);
  // In a body of 1.3 kB counting takes 1 µs, and looking at each key 10 µs.
  if (isSuccess(status) && keyColons(text) !== countKeys([json])) checkKeys(text);
  return { status, headers, text, json };
}

/** Counts the colons that may follow a key: all that do, and a few in strings. */
function keyColons(text: string): number {
  let count = 0;
  for (let at = text.indexOf(":"); at >= 0; at = text.indexOf(":", at + 1)) {
    const before = text[at - 1] as string;
    if (before === '"' || before <= " ") count += 1;
  }
  return count;
}

/** Counts the keys of all objects in a list; NaN if they are nested deeper than any answer. */
function countKeys(value: object, depth = 0): number {
  const items: unknown[] = Array.isArray(value) ? value : Object.values(value);
  let count = items === value ? 0 : items.length;
  for (const item of items) {
    if (typeof item !== "object" || item === null) continue;
    count += depth < 50 ? countKeys(item, depth + 1) : Number.NaN;
  }
  return count;
}

/** @throws InvalidResponseError when an object in the text, which is JSON, has a key twice. */
function checkKeys(text: string): void {
  const open: Set<string>[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    if (character === "{" || character === "[") open.push(new Set());
    else if (character === "}" || character === "]") open.pop();
    if (character !== '"') continue;
    const start = at;
    at = endOfString(text, start);
    colon.lastIndex = at + 1;
    if (!colon.test(text)) continue;
    const key = JSON.parse(text.slice(start, at + 1)) as string;
    const keys = open.at(-1) as Set<string>;
    if (keys.size === keys.add(key).size) {
      const message = `The response has the key ${JSON.stringify(key.slice(0, 60))} twice in one object, so one answer hides another. It is not used; report it to the service.`;
      throw new InvalidResponseError(message, { questionId: null, rule: "duplicate-key" });
    }
  }
}

const colon = /\s*:/y;

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the parser's own message quotes the body, so it goes no further
  }
}

function unparseable({ status, text }: HttpResponse, endpoint: HttpEndpoint): ConnectionError {
  const what = text === "" ? "an empty body" : `${text.length} characters that are not whole JSON`;
  const { maybeBilled, note } = billingOf(endpoint);
  const message = `The service answered ${status} with ${what}${note}. Check the base URL if this repeats.`;
  return new ConnectionError(message, { isRetryable: true, maybeBilled });
}
