import { stripVTControlCharacters } from "node:util";
import { APICallError, RetryError } from "ai";
import type { Redact } from "../security/redactor.ts";
import type { ReplyHttpError } from "./reply.ts";
import { BrokenReplyError } from "./reply-events.ts";

const MAX_LENGTH = 1000;

/** Returns in one plain line why the reply call failed, in the words of its last attempt. */
export function describeReplyFailure(error: unknown): string {
  const last = lastErrorOf(error);
  if (!(last instanceof Error)) return "The reply model failed without saying why.";
  const broken = brokenIn(last);
  if (broken !== null) return toLine(broken.message);
  if (isRejectedKey(last)) return "The gateway refused the key; check AI_GATEWAY_API_KEY.";
  if (APICallError.isInstance(last)) {
    if (last.statusCode === 401) return "The server refused the key; check ROUTER_REPLY_API_KEY.";
    if (last.statusCode === undefined)
      return toLine(`${last.message}. Check ROUTER_REPLY_BASE_URL.`);
  }
  if (last.name === "TimeoutError") return "The reply model took too long; try again later.";
  return toLine(wordsOf(last)) || `The reply model failed with ${last.name}.`;
}

// Out of credits, not allowed, not there, over the limit; 401 would reject any other model too.
const rejectedStatuses: ReadonlySet<unknown> = new Set([402, 403, 404, 429]);

/**
 * Returns how a model failed so that another one may do better; null where it would fare the same.
 */
export function failureOfModel(error: unknown): "model-refused" | "model-failed" | null {
  const status = statusOf(error);
  if (rejectedStatuses.has(status)) return "model-refused";
  return status !== null && status >= 500 ? "model-failed" : null;
}

/** Returns whether the gateway said no before any model was asked, so that nothing was billed. */
export function isUnbilled(error: unknown): boolean {
  const status = statusOf(error);
  return status !== null && status >= 400 && brokenIn(lastErrorOf(error)) === null;
}

/**
 * Returns the HTTP error of the service, without words that hold a part of a key, or null when the
 * call failed for another reason.
 */
export function httpErrorOf(error: unknown, { strictly }: Redact): ReplyHttpError | null {
  const status = statusOf(error);
  if (status === null) return null;
  const last = lastErrorOf(error);
  const clear = (words: string | null) =>
    words === null || strictly(words) === words ? words : null;
  const retryAfter = clear(retryAfterOf(responseHeadersOf(last)));
  return { status, code: clear(codeOf(last)), retryAfter };
}

function retryAfterOf(headers: Record<string, string>): string | null {
  const milliseconds = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (milliseconds >= 0) return String(Math.ceil(milliseconds / 1000));
  const wait = headers["retry-after"] ?? "";
  return /^[\w ,:.+-]{1,40}$/.test(wait) ? wait : null; // seconds, or a date
}

/** What OpenAI's own errors, and those of servers like it, say for programs. */
function codeOf(error: unknown): string | null {
  if (!APICallError.isInstance(error)) {
    return error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : null;
  }
  const body = error.data as { error?: { code?: unknown } | null } | null | undefined;
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

function responseHeadersOf(error: unknown): Record<string, string> {
  if (APICallError.isInstance(error)) return error.responseHeaders ?? {};
  return error instanceof Error && error.cause !== undefined ? responseHeadersOf(error.cause) : {};
}

/** What broke the reply off, wherever the `ai` package put it among the causes. */
function brokenIn(error: unknown): BrokenReplyError | null {
  if (error instanceof BrokenReplyError) return error;
  return error instanceof Error && error.cause !== undefined ? brokenIn(error.cause) : null;
}

/** The `ai` package replaces what the gateway said about a key with a page of terminal colours. */
function isRejectedKey({ name }: Error): boolean {
  return name === "GatewayAuthenticationError" || name === "GatewayError";
}

/** An answer that is not in the gateway's form is described by the call that got it. */
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
