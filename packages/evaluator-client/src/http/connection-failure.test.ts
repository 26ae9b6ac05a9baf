import { expect, test } from "vitest";
import { toConnectionError } from "./connection-failure.ts";
import type { HttpEndpoint } from "./http-client.ts";

const url = "https://service.example/v1/path?id=1";
const post: HttpEndpoint = { method: "POST", url, headers: {} };

function coded(code: unknown): Error {
  return Object.assign(new Error("quoted by nobody"), { code });
}

const neverSent = { isRetryable: true, maybeBilled: false };
const insecure = { isRetryable: false, maybeBilled: false };
const lost = { isRetryable: true, maybeBilled: true };
const unknown = { isRetryable: false, maybeBilled: true };

const connect = "Could not connect to https://service.example";
const secure = "No secure connection to https://service.example";
const broke = "The connection to https://service.example broke before a whole response arrived";

test.each<[string, object, string]>([
  ["EAI_AGAIN", neverSent, connect],
  ["ECONNREFUSED", neverSent, connect],
  ["EHOSTUNREACH", neverSent, connect],
  ["ENETUNREACH", neverSent, connect],
  ["ENOTFOUND", neverSent, connect],
  ["UND_ERR_CONNECT_TIMEOUT", neverSent, connect],
  ["CERT_HAS_EXPIRED", insecure, secure],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", insecure, secure],
  ["EPROTO", insecure, secure],
  ["ERR_SSL_WRONG_VERSION_NUMBER", insecure, secure],
  ["ERR_TLS_CERT_ALTNAME_INVALID", insecure, secure],
  ["HOSTNAME_MISMATCH", insecure, secure],
  ["SELF_SIGNED_CERT_IN_CHAIN", insecure, secure],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", insecure, secure],
  ["ECONNABORTED", lost, broke],
  ["ECONNRESET", lost, broke],
  ["EPIPE", lost, broke],
  ["ETIMEDOUT", lost, broke],
  ["UND_ERR_BODY_TIMEOUT", lost, broke],
  ["UND_ERR_HEADERS_TIMEOUT", lost, broke],
  ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", lost, broke],
  ["UND_ERR_SOCKET", lost, broke],
  ["Z_DATA_ERROR", lost, broke],
  ["ERR__ERROR_FORMAT_HUFFMAN_SPACE", lost, broke],
  ["ZSTD_error_prefix_unknown", lost, broke],
  ["EPROTONOSUPPORT", unknown, broke],
  ["HPE_INVALID_CONSTANT", unknown, broke],
  ["UND_ERR_HEADERS_OVERFLOW", unknown, broke],
])("sorts %s", (code, fields, message) => {
  const cause = coded(code);
  const error = toConnectionError(cause, { endpoint: post, keepCause: true });
  expect(error).toMatchObject({ name: "ConnectionError", cause, ...fields });
  expect(error.message.startsWith(`${message} (${code})`)).toBe(true);
  // fetch wraps the socket's error.
  const wrapped = new TypeError("fetch failed", { cause });
  const alike = toConnectionError(wrapped, { endpoint: post, keepCause: false });
  expect(alike).toMatchObject({ ...fields, message: error.message });
  expect(alike).not.toHaveProperty("cause");
});

test.each<[string, unknown, object]>([
  ["a browser's bare TypeError", new TypeError("Failed to fetch"), lost],
  ["a TypeError with a cause of no code", new TypeError("x", { cause: new Error("y") }), unknown],
  ["an error without a code", new Error("x"), unknown],
  ["a code that is no text", coded(7), unknown],
  ["text", "ECONNRESET", unknown],
])("takes %s as broken on the way", (_, thrown, fields) => {
  const error = toConnectionError(thrown, { endpoint: post, keepCause: false });
  const message = `${broke}; the request may have been billed.`;
  expect(error).toMatchObject({ ...fields, message });
});

test("bills no look-up", () => {
  const endpoint: HttpEndpoint = { ...post, method: "GET" };
  const error = toConnectionError(coded("ECONNRESET"), { endpoint, keepCause: false });
  expect(error).toMatchObject({ maybeBilled: false, message: `${broke} (ECONNRESET).` });
});
