import { ConnectionError } from "../errors.ts";
import { billingOf } from "./billing-of.ts";
import type { HttpEndpoint } from "./http-client.ts";

const neverConnected = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "UND_ERR_CONNECT_TIMEOUT",
]);
const lostOnTheWay = new Set([
  "ECONNABORTED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  "UND_ERR_SOCKET",
]);
const tlsFailure =
  /^(CERT_|ERR_SSL_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|EPROTO$|HOSTNAME_)/;
/** What zlib, brotli and zstd say of data that is broken or cut off. */
const undecodable = /^(Z_|ERR__ERROR_|ZSTD_)/;

/**
 * Turns what a socket or `fetch` threw into a `ConnectionError`. The thrown error is kept as the
 * cause only when `keepCause` says that it cannot hold the request.
 */
export function toConnectionError(
  thrown: unknown,
  { endpoint, keepCause }: { endpoint: HttpEndpoint; keepCause: boolean },
): ConnectionError {
  const { origin } = new URL(endpoint.url);
  const code = findCode(thrown);
  const cause = keepCause ? { cause: thrown } : {};
  const why = code === null ? "" : ` (${code})`;
  if (code !== null && neverConnected.has(code)) {
    const message = `Could not connect to ${origin}${why}; check the base URL and the network.`;
    return new ConnectionError(message, { ...cause, isRetryable: true, maybeBilled: false });
  }
  if (code !== null && tlsFailure.test(code)) {
    const message = `No secure connection to ${origin}${why}; check its certificate and the base URL.`;
    return new ConnectionError(message, { ...cause, isRetryable: false, maybeBilled: false });
  }
  const isRetryable =
    code === null ? isNetworkError(thrown) : lostOnTheWay.has(code) || undecodable.test(code);
  const { maybeBilled, note } = billingOf(endpoint);
  const message = `The connection to ${origin} broke before a whole response arrived${why}${note}.`;
  return new ConnectionError(message, { ...cause, isRetryable, maybeBilled });
}

/** A browser's `fetch` throws a bare `TypeError`; where there is a cause, the cause is not known. */
function isNetworkError(thrown: unknown): boolean {
  return thrown instanceof TypeError && thrown.cause === undefined;
}

function findCode(thrown: unknown, depth = 0): string | null {
  if (!(thrown instanceof Error) || depth > 4) return null;
  if ("code" in thrown && typeof thrown.code === "string") return thrown.code;
  return findCode(thrown.cause, depth + 1);
}
