import { stripVTControlCharacters } from "node:util";
import { APICallError, RetryError } from "ai";
import type { Redact } from "./redactor.ts";
import type { ReplyHttpError } from "./reply.ts";
import { BrokenReplyError } from "./reply-events.ts";

const MAX_LENGTH = 1000;

/** Describes the failure of a reply call. */
export function toReplyFailure(error: unknown, { strictly }: Redact) {
  const last = lastErrorOf(error);
  const status = statusOf(error);
  const call = callErrorIn(last);
  const clear = (words: string | null) =>
    words === null || strictly(words) === words ? words : null;
  const retryAfter = clear(retryAfterOf(call?.responseHeaders ?? {}));
  const httpError: ReplyHttpError | null =
    status === null ? null : { status, code: clear(codeOf(call)), retryAfter };
  return {
    replyError: strictly(describe(last)),
    httpError,
    /** Whether the gateway rejected the call before it asked a model, which costs nothing. */
    isUnbilled: status !== null && status >= 400 && brokenIn(last) === null,
  };
}

function describe(last: unknown): string {
  if (!(last instanceof Error)) return "The reply model failed without a reason.";
  const broken = brokenIn(last);
  if (broken !== null) return toLine(broken.message);
  // The `ai` package replaces the gateway's message about a key with a page of terminal colours.
  if (last.name === "GatewayAuthenticationError" || last.name === "GatewayError") {
    return "The gateway refused the key; check AI_GATEWAY_API_KEY.";
  }
  if (APICallError.isInstance(last)) {
    if (last.statusCode === 401) return "The server refused the key; check ROUTER_REPLY_API_KEY.";
    if (last.statusCode === undefined)
      return toLine(`${last.message}. Check ROUTER_REPLY_BASE_URL.`);
  }
  if (last.name === "TimeoutError") return "The reply model took too long; try again later.";
  return toLine(wordsOf(last)) || `The reply model failed with ${last.name}.`;
}

// A 401 would reject any other model too.
const rejectedStatuses: ReadonlySet<unknown> = new Set([402, 403, 404, 429]);

/** Returns how a model failed; null if another model would fail too. */
export function failureOfModel(error: unknown): "model-refused" | "model-failed" | null {
  const status = statusOf(error);
  if (rejectedStatuses.has(status)) return "model-refused";
  return status !== null && status >= 500 ? "model-failed" : null;
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

function lastErrorOf(error: unknown): unknown {
  return RetryError.isInstance(error) ? error.lastError : error;
}

function statusOf(error: unknown): number | null {
  const last = lastErrorOf(error);
  const status = last instanceof Error && "statusCode" in last ? last.statusCode : null;
  return typeof status === "number" ? status : null;
}

function callErrorIn(error: unknown): APICallError | null {
  if (APICallError.isInstance(error)) return error;
  return error instanceof Error ? callErrorIn(error.cause) : null;
}

function brokenIn(error: unknown): BrokenReplyError | null {
  if (error instanceof BrokenReplyError) return error;
  return error instanceof Error ? brokenIn(error.cause) : null;
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
