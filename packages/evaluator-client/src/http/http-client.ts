import type { Abortable } from "./abortable.ts";

/** Where requests go, and what every one of them carries. */
export interface HttpEndpoint {
  readonly method: "GET" | "POST";
  readonly url: string;
  /** Header name to value, sent as written and in this order. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One HTTP response with its whole body read. */
export interface HttpResponse {
  readonly status: number;
  /** A header's value by its lower-case name, or null. */
  readonly header: (name: string) => string | null;
  /** The decoded body; empty when an error status came with a body that cannot be read. */
  readonly text: string;
}

/**
 * Sends one request and reads its whole response. It follows no redirect and never retries.
 * It throws the reason of an abort, a `ConnectionError` when no usable response arrives, or an
 * `InvalidResponseError` when the body of a success is over {@link MAX_BODY_BYTES}.
 */
type SendRequest = (body: string | null, abortable: Abortable) => Promise<HttpResponse>;

/** Prepares requests to one endpoint, so that what they share is worked out once. */
export type HttpClient = (endpoint: HttpEndpoint) => SendRequest;

/** The largest response body that is read, decoded: 16 MiB. */
export const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Whether a status says that the request was answered. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}
