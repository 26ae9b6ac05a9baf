import { ConnectionError } from "../errors.ts";

type Fate = "unreachable" | "insecure" | "unsendable" | "http2" | "lost" | "unknown";

/** Error codes of Node (libuv, c-ares, TLS, streams, HTTP/2) and undici, and Bun's own names. */
const codesOfFates: Readonly<Partial<Record<Fate, string>>> = {
  unreachable: `EADDRINUSE EADDRNOTAVAIL EAI_AGAIN EAI_FAIL EAI_MEMORY EAI_NODATA EAI_NONAME EAI_SYSTEM
    ECONNREFUSED EHOSTDOWN EHOSTUNREACH EMFILE ENETDOWN ENETUNREACH ENFILE ENOBUFS ENODATA ENOMEM ENONET
    ENOTFOUND EREFUSED ESERVFAIL ETIMEOUT UND_ERR_CONNECT_TIMEOUT UND_ERR_PRX_CONN
    ConnectionRefused DNSException FailedToOpenSocket`,
  unsendable: `EACCES EAFNOSUPPORT EPERM EPROTONOSUPPORT ERR_ACCESS_DENIED ERR_INVALID_ARG_TYPE
    ERR_INVALID_ARG_VALUE ERR_INVALID_CHAR ERR_INVALID_URL ERR_SOCKET_BAD_PORT ERR_WEBASSEMBLY_NOT_SUPPORTED
    UND_ERR_BPL_MISSING_UPSTREAM UND_ERR_CLOSED UND_ERR_INVALID_ARG UND_ERR_MAX_ORIGINS_REACHED
    UND_ERR_NOT_SUPPORTED UND_ERR_REQ_CONTENT_LENGTH_MISMATCH UND_MOCK_ERR_MOCK_NOT_MATCHED`,
  insecure: `CRL_HAS_EXPIRED CRL_NOT_YET_VALID CRL_SIGNATURE_FAILURE EPROTO INVALID_CA INVALID_PURPOSE
    PATH_LENGTH_EXCEEDED UND_ERR_PRX_TLS`,
  http2: "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL",
  lost: `ECONNABORTED ECONNRESET ENOTCONN EPIPE ESHUTDOWN ETIMEDOUT ERR_SOCKET_CLOSED
    ERR_SOCKET_CONNECTION_TIMEOUT ERR_STREAM_DESTROYED ERR_STREAM_PREMATURE_CLOSE ERR_STREAM_WRITE_AFTER_END
    HPE_CLOSED_CONNECTION HPE_INVALID_EOF_STATE UND_ERR_ABORTED UND_ERR_BODY_TIMEOUT UND_ERR_HEADERS_TIMEOUT
    UND_ERR_INFO UND_ERR_REQ_RETRY UND_ERR_SOCKET UND_ERR_RES_CONTENT_LENGTH_MISMATCH ConnectionClosed`,
};
const fateOfCode = new Map<string, Fate>(
  Object.entries(codesOfFates).flatMap(([fate, codeList]) =>
    codeList.split(/\s+/).map((errorCode) => [errorCode, fate as Fate] as const),
  ),
);

/** Prefixes of codes; OpenSSL, zlib, brotli and zstd have one code for each defect. */
const families: readonly [Fate, RegExp][] = [
  ["insecure", /^(CERT|ERR_OSSL|ERR_SSL|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME)_/],
  ["lost", /^(ERR_HTTP2_|Z_|ERR__ERROR_|ZSTD_)/],
];

/** Messages of a `fetch` that sets no code. Our messages quote only the third column. */
const sayings: readonly [RegExp, Fate, string][] = [
  [/\bbad port\b|\bport \d+ (is|are) blocked\b/i, "unsendable", "a port that fetch does not allow"],
  [/\b(invalid url|url scheme|unknown scheme)\b/i, "unsendable", "a URL that fetch does not allow"],
  [/\b(dns error|name not resolved|failed to lookup address)\b/i, "unreachable", "DNS"],
  [/\bconnection refused\b/i, "unreachable", "connection refused"],
  [/\b(invalid peer certificate|certificate verif)/i, "insecure", "certificate"],
  [/\b(cors|cross-origin)\b/i, "unknown", "CORS: the service must allow this page's origin"],
  [/\bconnection (was )?(lost|closed|reset)\b/i, "lost", "connection lost"],
  [/\bmixed content\b/i, "unsendable", "mixed content"],
];

// A server that speaks HTTP/2 begins with its settings (RFC 9113, 3.4), and undici's error holds them.
// The third byte is their length.
const settingsFrame = "\0\0\x04\0\0\0\0\0";

interface FailureContext {
  readonly endpoint: { readonly method: "GET" | "POST"; readonly url: string };
  /** Whether the error cannot hold the request, so that it may be shown as the cause. */
  readonly keepCause: boolean;
  /** Whether any of the request was written; undefined if unknown. */
  readonly wasSent?: boolean;
  /** A sentence to add if no connection was made. @default none */
  readonly hint?: string;
}

/** Turns the error of a socket or `fetch` into a `ConnectionError`. */
export function toConnectionError(thrownValue: unknown, context: FailureContext): ConnectionError {
  const { endpoint, keepCause, hint = "" } = context;
  const { origin } = new URL(endpoint.url);
  const causeOption = keepCause ? { cause: thrownValue } : {};
  const proxyStatus = findProxyStatus(thrownValue);
  if (proxyStatus !== null) {
    const message = `The proxy refused the way to ${origin} (${proxyStatus}); nothing was sent to the service, and nothing was billed. Check the proxy's address, credentials and rules.`;
    const isRetryable = proxyStatus >= 500; // the proxy is out of order, not against it
    return new ConnectionError(message, { ...causeOption, isRetryable, maybeBilled: false });
  }
  const { fate, why } = classifyFailure(thrownValue);
  const isUnsent = wasNeverSent(thrownValue, fate, context.wasSent);
  const { maybeBilled, note } = isUnsent ? { maybeBilled: false, note: "" } : toBilling(endpoint);
  const because = why === null ? "" : ` (${why})`;
  const message = isUnsent
    ? describeUnsent(fate, origin + because) + hint
    : `The connection to ${origin} broke before a whole response arrived${because}${note}.`;
  const isRetryable = fate === "unreachable" || fate === "lost";
  return new ConnectionError(message, { ...causeOption, isRetryable, maybeBilled });
}

function describeUnsent(fate: Fate, endpointOrigin: string): string {
  if (fate === "http2") {
    return `The server at ${endpointOrigin} speaks only HTTP/2, and this call was sent over HTTP/1.1; nothing was billed. Use an https address without EVALUATOR_HTTP2=0, the option "dispatcher" and the option "fetch", or pass a "fetch" that speaks HTTP/2.`;
  }
  if (fate === "insecure") {
    return `No secure connection to ${endpointOrigin}; check its certificate and the base URL.`;
  }
  if (fate === "unsendable" || fate === "unknown") {
    return `Nothing can be sent to ${endpointOrigin}; check the base URL and what this program may reach.`;
  }
  return `Could not connect to ${endpointOrigin}; check the base URL and the network.`;
}

const unsentFates: ReadonlySet<Fate> = new Set(["unreachable", "unsendable", "http2"]);

function wasNeverSent(thrownValue: unknown, fate: Fate, wasSent: boolean | undefined): boolean {
  if (unsentFates.has(fate)) return true;
  if (wasSent === false) return true;
  if (fate === "insecure") return wasSent !== true;
  // A timeout of one of these system calls loses no answer.
  return /^(connect|getaddrinfo|bind)$/.test(String(findText(thrownValue, "syscall")));
}

function classifyFailure(thrownValue: unknown): { fate: Fate; why: string | null } {
  const errorData = findText(thrownValue, "data") ?? "";
  if (errorData.slice(0, 2) + errorData.slice(3, 9) === settingsFrame)
    return { fate: "http2", why: null };
  const errorCode = findText(thrownValue, "code");
  const why = errorCode !== null && /^[\w.-]{1,60}$/.test(errorCode) ? errorCode : null;
  const errorFamily = families.find(([, codePrefix]) => codePrefix.test(errorCode ?? ""));
  const knownFate = fateOfCode.get(errorCode ?? "") ?? errorFamily?.[0];
  if (knownFate !== undefined) return { fate: knownFate, why };
  const messages = listCauses(thrownValue).map(({ message }) => message.slice(0, 500));
  const reportedSaying = sayings.find(([pattern]) =>
    messages.some((message) => pattern.test(message)),
  );
  if (reportedSaying !== undefined) return { fate: reportedSaying[1], why: reportedSaying[2] };
  // For a network error a browser's `fetch` throws a `TypeError` without a cause.
  const isNetwork =
    errorCode === null && messages.length === 1 && (thrownValue as Error).name === "TypeError";
  return { fate: isNetwork ? "lost" : "unknown", why };
}

/** The status with which a proxy rejected a tunnel or asked for credentials; undici has it only in the message. */
function findProxyStatus(thrownValue: unknown): number | null {
  for (const { message } of listCauses(thrownValue)) {
    const reportedMatch = /^Proxy (?:response|Authentication Required) \((\d{3})\)/.exec(message);
    if (reportedMatch !== null) return Number(reportedMatch[1]);
  }
  return null;
}

function findText(thrownValue: unknown, fieldName: "code" | "data" | "syscall"): string | null {
  const fieldValues = listCauses(thrownValue).map((causeError): unknown =>
    Reflect.get(causeError, fieldName),
  );
  return fieldValues.find((fieldValue) => typeof fieldValue === "string") ?? null;
}

/** The error and what caused it, five at most. No instanceof: in jest, errors of Node are of another realm. */
function listCauses(thrownValue: unknown, depthLimit = 5): readonly Error[] {
  const thrownError = thrownValue as Error | null | undefined;
  if (depthLimit === 0 || typeof thrownError?.message !== "string") return [];
  return [thrownError, ...listCauses(thrownError.cause, depthLimit - 1)];
}

/** Returns whether a lost response may have been charged for (evaluations are posted, look-ups are free), and in words. */
export function toBilling({ method }: Pick<FailureContext["endpoint"], "method">) {
  const maybeBilled = method === "POST";
  return { maybeBilled, note: maybeBilled ? "; the request may have been billed" : "" };
}
