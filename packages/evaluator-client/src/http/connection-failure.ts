import { ConnectionError } from "../errors.ts";

type Fate = "unreachable" | "insecure" | "unsendable" | "http2" | "lost" | "unknown";

/** Error codes of Node (libuv, c-ares, TLS, streams, HTTP/2) and undici, and Bun's own names. */
const codes: Readonly<Partial<Record<Fate, string>>> = {
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
const fates = new Map<string, Fate>(
  Object.entries(codes).flatMap(([fate, list]) =>
    list.split(/\s+/).map((code) => [code, fate as Fate] as const),
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
  const cause = keepCause ? { cause: thrownValue } : {};
  const proxyStatus = findProxyStatus(thrownValue);
  if (proxyStatus !== null) {
    const message = `The proxy refused the way to ${origin} (${proxyStatus}); nothing was sent to the service, and nothing was billed. Check the proxy's address, credentials and rules.`;
    const isRetryable = proxyStatus >= 500; // the proxy is out of order, not against it
    return new ConnectionError(message, { ...cause, isRetryable, maybeBilled: false });
  }
  const { fate, why } = sort(thrownValue);
  const isUnsent = wasNeverSent(thrownValue, fate, context.wasSent);
  const { maybeBilled, note } = isUnsent ? { maybeBilled: false, note: "" } : toBilling(endpoint);
  const because = why === null ? "" : ` (${why})`;
  const message = isUnsent
    ? describeUnsent(fate, origin + because) + hint
    : `The connection to ${origin} broke before a whole response arrived${because}${note}.`;
  const isRetryable = fate === "unreachable" || fate === "lost";
  return new ConnectionError(message, { ...cause, isRetryable, maybeBilled });
}

function describeUnsent(fate: Fate, to: string): string {
  if (fate === "http2") {
    return `The server at ${to} speaks only HTTP/2, and this call was sent over HTTP/1.1; nothing was billed. Use an https address without EVALUATOR_HTTP2=0, the option "dispatcher" and the option "fetch", or pass a "fetch" that speaks HTTP/2.`;
  }
  if (fate === "insecure") {
    return `No secure connection to ${to}; check its certificate and the base URL.`;
  }
  if (fate === "unsendable" || fate === "unknown") {
    return `Nothing can be sent to ${to}; check the base URL and what this program may reach.`;
  }
  return `Could not connect to ${to}; check the base URL and the network.`;
}

const unsentFates: ReadonlySet<Fate> = new Set(["unreachable", "unsendable", "http2"]);

function wasNeverSent(thrownValue: unknown, fate: Fate, wasSent: boolean | undefined): boolean {
  if (unsentFates.has(fate)) return true;
  if (wasSent === false) return true;
  if (fate === "insecure") return wasSent !== true;
  // A timeout of one of these system calls loses no answer.
  return /^(connect|getaddrinfo|bind)$/.test(String(findText(thrownValue, "syscall")));
}

function sort(thrownValue: unknown): { fate: Fate; why: string | null } {
  const data = findText(thrownValue, "data") ?? "";
  if (data.slice(0, 2) + data.slice(3, 9) === settingsFrame) return { fate: "http2", why: null };
  const code = findText(thrownValue, "code");
  const why = code !== null && /^[\w.-]{1,60}$/.test(code) ? code : null;
  const family = families.find(([, prefix]) => prefix.test(code ?? ""));
  const knownFate = fates.get(code ?? "") ?? family?.[0];
  if (knownFate !== undefined) return { fate: knownFate, why };
  const messages = listCauses(thrownValue).map(({ message }) => message.slice(0, 500));
  const reportedSaying = sayings.find(([pattern]) =>
    messages.some((message) => pattern.test(message)),
  );
  if (reportedSaying !== undefined) return { fate: reportedSaying[1], why: reportedSaying[2] };
  // For a network error a browser's `fetch` throws a `TypeError` without a cause.
  const isNetwork =
    code === null && messages.length === 1 && (thrownValue as Error).name === "TypeError";
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

function findText(thrownValue: unknown, field: "code" | "data" | "syscall"): string | null {
  const values = listCauses(thrownValue).map((error): unknown => Reflect.get(error, field));
  return values.find((value) => typeof value === "string") ?? null;
}

/** The error and what caused it, five at most. No instanceof: in jest, errors of Node are of another realm. */
function listCauses(thrownValue: unknown, most = 5): readonly Error[] {
  const error = thrownValue as Error | null | undefined;
  if (most === 0 || typeof error?.message !== "string") return [];
  return [error, ...listCauses(error.cause, most - 1)];
}

/** Returns whether a lost response may have been charged for (evaluations are posted, look-ups are free), and in words. */
export function toBilling({ method }: Pick<FailureContext["endpoint"], "method">) {
  const maybeBilled = method === "POST";
  return { maybeBilled, note: maybeBilled ? "; the request may have been billed" : "" };
}
