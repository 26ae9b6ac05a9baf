import { runInNewContext } from "node:vm";
import { errors } from "undici";
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

const nothing = "Nothing can be sent to https://service.example";

const codes: [fields: object, message: string, codes: string][] = [
  [
    neverSent,
    connect,
    `EADDRINUSE EADDRNOTAVAIL EAI_AGAIN EAI_FAIL EAI_NODATA EAI_NONAME ECONNREFUSED EHOSTDOWN
     EHOSTUNREACH EMFILE ENETDOWN ENETUNREACH ENFILE ENOBUFS ENODATA ENOMEM ENOTFOUND ESERVFAIL
     ETIMEOUT UND_ERR_CONNECT_TIMEOUT UND_ERR_PRX_CONN ConnectionRefused FailedToOpenSocket`,
  ],
  [
    insecure,
    secure,
    `CERT_HAS_EXPIRED CERT_REVOKED CRL_HAS_EXPIRED DEPTH_ZERO_SELF_SIGNED_CERT EPROTO
     ERR_OSSL_WRONG_SIGNATURE_TYPE ERR_SSL_WRONG_VERSION_NUMBER ERR_TLS_CERT_ALTNAME_INVALID
     HOSTNAME_MISMATCH INVALID_CA SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE
     UND_ERR_PRX_TLS`,
  ],
  [
    { isRetryable: false, maybeBilled: false },
    nothing,
    `EACCES EAFNOSUPPORT EPERM EPROTONOSUPPORT ERR_ACCESS_DENIED ERR_INVALID_CHAR ERR_INVALID_URL
     ERR_SOCKET_BAD_PORT ERR_WEBASSEMBLY_NOT_SUPPORTED UND_ERR_CLOSED UND_ERR_INVALID_ARG UND_ERR_MAX_ORIGINS_REACHED
     UND_ERR_NOT_SUPPORTED UND_ERR_REQ_CONTENT_LENGTH_MISMATCH UND_MOCK_ERR_MOCK_NOT_MATCHED`,
  ],
  [
    lost,
    broke,
    `ECONNABORTED ECONNRESET ENOTCONN EPIPE ESHUTDOWN ETIMEDOUT ERR_HTTP2_GOAWAY_SESSION
     ERR_HTTP2_STREAM_ERROR ERR_SOCKET_CLOSED ERR_STREAM_DESTROYED ERR_STREAM_PREMATURE_CLOSE
     HPE_CLOSED_CONNECTION HPE_INVALID_EOF_STATE UND_ERR_ABORTED UND_ERR_BODY_TIMEOUT
     UND_ERR_HEADERS_TIMEOUT UND_ERR_INFO UND_ERR_REQ_RETRY UND_ERR_RES_CONTENT_LENGTH_MISMATCH
     UND_ERR_SOCKET Z_DATA_ERROR ERR__ERROR_FORMAT_HUFFMAN_SPACE ZSTD_error_prefix_unknown
     ConnectionClosed`,
  ],
  [unknown, broke, `HPE_INVALID_CONSTANT UND_ERR_DESTROYED UND_ERR_HEADERS_OVERFLOW EISDIR`],
];

test.each([
  ['Object.assign(new Error("refused"), { code: "ECONNREFUSED" })', neverSent],
  ['new TypeError("fetch failed", { cause: { message: "", code: "ECONNREFUSED" } })', neverSent],
  ['new TypeError("Failed to fetch")', lost],
])("knows the error of another realm, as in jest: %s", (source, fields) => {
  const thrown: unknown = runInNewContext(source);
  expect(toConnectionError(thrown, { endpoint: post, keepCause: false })).toMatchObject(fields);
});

test.each(
  codes.flatMap(([fields, message, list]) =>
    list.split(/\s+/).map((code) => [code, fields, message] as const),
  ),
)("sorts %s", (code, fields, message) => {
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

test("has sorted every error of undici", () => {
  const sorted = new Set(codes.flatMap(([, , list]) => list.split(/\s+/)));
  // The root of all, and what needs a redirect, a retry, a web socket or a limit that is not set here.
  const elsewhere = `UND_ERR UND_ERR_ABORT UND_ERR_INVALID_RETURN_VALUE UND_ERR_REDIRECT_MAX
     UND_ERR_RESPONSE UND_ERR_RES_EXCEEDED_MAX_SIZE UND_ERR_BPL_MISSING_UPSTREAM
     UND_ERR_WS_MESSAGE_SIZE_EXCEEDED`.split(/\s+/);
  const classes = Object.values(errors) as (new (cause?: unknown, ...rest: unknown[]) => Error)[];
  const unsorted = classes
    .map((ErrorClass) => Reflect.get(new ErrorClass("x", 1, {}), "code"))
    .filter((code) => typeof code === "string" && !code.startsWith("HPE_"))
    .filter((code) => !sorted.has(code) && !elsewhere.includes(code));
  expect(unsorted).toEqual([]);
});

test("knows by what undici wrote whether anything was sent", () => {
  const failed = (code: string, wasSent: boolean) =>
    toConnectionError(coded(code), { endpoint: post, keepCause: false, wasSent });
  expect(failed("ECONNRESET", false)).toMatchObject(neverSent);
  expect(failed("ECONNRESET", true)).toMatchObject(lost);
  expect(failed("ERR_SSL_BAD_RECORD_MAC", true)).toMatchObject(unknown);
  expect(failed("UND_ERR_DESTROYED", false)).toMatchObject(insecure);
  expect(failed("ENOTFOUND", true)).toMatchObject(neverSent);
});

test("knows by the system call that a connection never came about", () => {
  const timeout = Object.assign(new Error("x"), { code: "ETIMEDOUT", syscall: "connect" });
  const error = toConnectionError(timeout, { endpoint: post, keepCause: false });
  expect(error).toMatchObject({
    ...neverSent,
    message: `${connect} (ETIMEDOUT); check the base URL and the network.`,
  });
});

test.each([
  ["Proxy response (407) !== 200 when HTTP Tunneling", 407, false],
  ["Proxy response (503) !== 200 when HTTP Tunneling", 503, true],
  ["Proxy Authentication Required (407)", 407, false],
])("bills nothing after %s", (words, status, isRetryable) => {
  const thrown = new TypeError("fetch failed", { cause: new Error(words) });
  const error = toConnectionError(thrown, { endpoint: post, keepCause: false });
  expect(error).toMatchObject({ isRetryable, maybeBilled: false });
  expect(error.message).toContain(
    `The proxy refused the way to https://service.example (${status}); nothing was sent to the service, and nothing was billed.`,
  );
});

const fetchSays: [message: string, fields: object, shown: string][] = [
  ["bad port", insecure, "a port that fetch does not allow"],
  ["Requests to port 9 are blocked", insecure, "a port that fetch does not allow"],
  ["unknown scheme", insecure, "a URL that fetch does not allow"],
  ["error sending request: dns error: failed to lookup address", neverSent, "DNS"],
  ["tcp connect error: Connection refused (os error 111)", neverSent, "connection refused"],
  ["invalid peer certificate: UnknownIssuer", insecure, "certificate"],
  ["Network connection lost.", lost, "connection lost"],
  ["Cross-Origin Request Blocked", unknown, "CORS: the service must allow this page's origin"],
];

test.each(fetchSays)(
  "tells what a fetch means by %s, and not its words",
  (words, fields, shown) => {
    const thrown = new TypeError("fetch failed", { cause: new Error(`${words} planted-secret`) });
    const error = toConnectionError(thrown, { endpoint: post, keepCause: false });
    expect(error).toMatchObject(fields);
    expect(error.message).toContain(`(${shown})`);
    expect(error.message).not.toContain("planted-secret");
  },
);

test("says a hint only where no connection came about", () => {
  const failed = (code: string) =>
    toConnectionError(coded(code), { endpoint: post, keepCause: false, hint: " A hint." }).message;
  expect(failed("ENOTFOUND")).toMatch(/network\. A hint\.$/);
  expect(failed("ECONNRESET")).not.toContain("hint");
});

test("shows no code that may be more than one", () => {
  const error = toConnectionError(coded("Bearer planted-secret"), {
    endpoint: post,
    keepCause: false,
  });
  expect(error.message).not.toContain("planted-secret");
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
