import { ConfigurationError } from "../errors.ts";
import type { Abortable } from "./abortable.ts";

/** Where requests go, and what every one of them carries. */
export interface HttpEndpoint {
  readonly method: "GET" | "POST";
  readonly url: string;
  /** Header name to value, sent as written and in this order. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A response's headers by lower-case name; a list where one came several times. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** One HTTP response with its whole body read. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** The decoded body; empty when an error status came with a body that cannot be read. */
  readonly text: string;
}

/**
 * Sends one request and reads its whole response. It follows no redirect and never retries.
 * It throws the reason of an abort, a `ConnectionError` when no usable response arrives, or an
 * `InvalidResponseError` when the body of a success is over {@link MAX_BODY_BYTES}.
 */
type SendRequest = (body: string | null, abortable: Abortable) => Promise<HttpResponse>;

/** Sends requests, over connections that it may own. */
export interface HttpClient {
  /** Prepares requests to one endpoint, so that what they share is worked out once. */
  prepare(endpoint: HttpEndpoint): SendRequest;
  /** Closes the connections that it owns, once their requests are over. */
  close(): Promise<void>;
}

/** An undici `Dispatcher` of any version: an `Agent`, a `Pool`, a `ProxyAgent`, a `MockAgent`. */
export interface AnyDispatcher {
  dispatch(options: never, handler: never): boolean;
}

/** What the HTTP client of a runtime is made from. */
export interface HttpClientOptions {
  /** Sends through this dispatcher of the caller's, who also closes it. */
  readonly dispatcher?: AnyDispatcher | undefined;
  /** The environment variables that name proxies. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The largest response body that is read, decoded: 16 MiB. */
export const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Returns whether a status says that the request was answered. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** Returns a header by its lower-case name, the first of several, or null. */
export function headerOf({ headers }: Pick<HttpResponse, "headers">, name: string): string | null {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

/** Returns whether a lost response may have been charged for (evaluations are posted, look-ups are free), and in words. */
export function billingOf({ method }: Pick<HttpEndpoint, "method">) {
  const maybeBilled = method === "POST";
  return { maybeBilled, note: maybeBilled ? "; the request may have been billed" : "" };
}

/** Returns the error for what is asked of a client after its end. */
export function refuseClosed(): ConfigurationError {
  const message = "The transport or catalog is closed; make another one to send more.";
  return new ConfigurationError(message, { option: "transport" });
}
