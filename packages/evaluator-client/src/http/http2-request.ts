import type { OutgoingHttpHeaders } from "node:http2";
import type { Dispatcher } from "undici";
import type { HttpEndpoint } from "./http-client.ts";
import type { UndiciExchange } from "./undici-exchange.ts";

/** A request in the forms of both protocols. */
export interface OriginRequest {
  readonly http1: Omit<Dispatcher.DispatchOptions, "body">;
  readonly http2Headers: OutgoingHttpHeaders;
  readonly body: string | null;
  readonly exchange: UndiciExchange;
}

/** One request over HTTP/2. */
export interface Http2Request extends Pick<OriginRequest, "body" | "exchange"> {
  readonly headers: OutgoingHttpHeaders;
  /** How often a server has not processed it. */
  refusals: number;
}

/** A request that waits for a session, or for the protocol of its origin. */
export type WaitingRequest = Http2Request & OriginRequest;

/** Headers of one connection, which HTTP/2 does not have (RFC 9113, 8.2.2). */
const connectionHeaders = new Set(["connection", "host", "keep-alive", "transfer-encoding"]);

/** Returns the headers of requests to an endpoint over HTTP/2. */
export function toHttp2Headers({
  url,
  method,
  headers,
}: HttpEndpoint): OriginRequest["http2Headers"] {
  const { host, pathname, search } = new URL(url);
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    ":method": method,
    ":scheme": "https",
    ":authority": host,
    ":path": pathname + search,
    ...Object.fromEntries(own.filter(([name]) => !connectionHeaders.has(name))),
  };
}
