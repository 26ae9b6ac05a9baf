import { stripVTControlCharacters } from "node:util";
import { APICallError, RetryError } from "ai";
import type { Redact } from "./redactor.ts";
import type { Attempt } from "./attempt.ts";
import { BrokenReplyError } from "./broken-reply-error.ts";
import type { Upstream } from "./upstream.ts";

const MAX_LENGTH = 1000;

type Service = Pick<Upstream, "type" | "name" | "keyVariable">;

/** Describes the failure of a reply call; a time limit explains the error that it caused. */
export function toReplyFailure(
  error: unknown,
  { strictly }: Redact,
  { service, limit = null }: { service?: Service; limit?: Attempt["limit"] } = {},
) {
  const last = RetryError.isInstance(error) ? error.lastError : error;
  const code = last instanceof Error && "statusCode" in last ? last.statusCode : null;
  const broken = findCause(last, (each) => each instanceof BrokenReplyError);
  const isStatus = limit === null && broken === null && typeof code === "number" && code >= 400;
  const status = isStatus ? code : null;
  const call = findCause(last, (each) => APICallError.isInstance(each));
  const clear = (words: string | null) =>
    words === null || strictly(words) === words ? words : null;
  const retryAfter = clear(retryAfterOf(call?.responseHeaders ?? {}));
  const served = status === null ? null : { status, code: clear(codeOf(call)), retryAfter };
  const isTemporary =
    broken === null &&
    limit === null &&
    last instanceof Error &&
    "isRetryable" in last &&
    last.isRetryable === true;
  return {
    replyError: limit === null ? strictly(describe(last, service)) : tooSlow[limit],
    /** The time limit that ended the call. */
    failure: limit,
    /** The error of the model's service; the code is one like `context_length_exceeded`. */
    httpError: limit === null ? served : { status: 504, code: null, retryAfter: null },
    /** Whether the service rejected the call before it asked a model, which costs nothing. */
    isUnbilled: status !== null,
    /** How the model failed; null if another model would fail too. */
    cause: limit === "idle-timeout" ? "model-failed" : causeOf(status, isTemporary),
    /** Whether the same model may be asked again. */
    isTemporary,
  } as const;
}

const tooSlow = {
  "idle-timeout": "The reply model sent nothing for too long; try again later.",
  timeout: "The reply model took too long; try again later.",
};

// A 401 would reject any other model too.
const rejectedStatuses: ReadonlySet<number | null> = new Set([402, 403, 404, 429]);

function causeOf(status: number | null, isTemporary: boolean) {
  if (rejectedStatuses.has(status)) return "model-refused";
  // Without a status, the service was not reached.
  return (status === null ? isTemporary : status >= 500) ? "model-failed" : null;
}

/** Returns an error or the first of its causes that is of a kind. */
function findCause<TError>(error: unknown, is: (error: unknown) => error is TError): TError | null {
  if (is(error)) return error;
  return error instanceof Error ? findCause(error.cause, is) : null;
}

function describe(last: unknown, service?: Service): string {
  if (!(last instanceof Error)) return "The reply model failed without a reason.";
  const broken = findCause(last, (each) => each instanceof BrokenReplyError);
  if (broken !== null) return toLine(broken.message);
  // The `ai` package replaces the gateway's message about a key with a page of terminal colours.
  if (last.name === "GatewayAuthenticationError" || last.name === "GatewayError") {
    return refusedKey(service ?? { type: "gateway", keyVariable: "AI_GATEWAY_API_KEY" });
  }
  if (APICallError.isInstance(last)) {
    if (last.statusCode === 401) return refusedKey(service);
    if (last.statusCode === undefined) return toLine(`${last.message}. ${addressOf(service)}`);
  }
  if (last.name === "TimeoutError") return "The reply model took too long; try again later.";
  return toLine(wordsOf(last)) || `The reply model failed with ${last.name}.`;
}

function refusedKey(service: Partial<Service> = { keyVariable: "ROUTER_REPLY_API_KEY" }): string {
  const { type, name, keyVariable } = service;
  const server = name === undefined ? "The server" : `The upstream ${name}`;
  const advice = keyVariable ? `check ${keyVariable}` : "set apiKeyEnv";
  return `${type === "gateway" ? "The gateway" : server} refused the key; ${advice}.`;
}

function addressOf(service: Service | undefined): string {
  return service === undefined
    ? "Check ROUTER_REPLY_BASE_URL."
    : `Check the address of the upstream ${service.name}.`;
}

function retryAfterOf(headers: Record<string, string>): string | null {
  const milliseconds = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (milliseconds >= 0) return String(Math.ceil(milliseconds / 1000));
  const wait = headers["retry-after"] ?? "";
  return /^[\w ,:.+-]{1,40}$/.test(wait) ? wait : null; // seconds, or a date
}

/** The code of OpenAI's errors, and of servers like it. */
function codeOf(call: APICallError | null): string | null {
  const body = call?.data as { error?: { code?: unknown } | null } | null | undefined;
  const code = body?.error?.code;
  return typeof code === "string" && /^[a-z_]{1,60}$/.test(code) ? code : null;
}

/** An answer that is not in the gateway's form has its call as its cause. */
function wordsOf({ name, message, cause }: Error): string {
  if (name !== "GatewayResponseError" || !APICallError.isInstance(cause)) return message;
  return cause.statusCode === undefined
    ? cause.message
    : `${cause.message} (status ${cause.statusCode})`;
}

function toLine(text: string): string {
  const line = stripVTControlCharacters(text).replaceAll(/\s+/g, " ").trim();
  return line.slice(0, MAX_LENGTH);
}
