import type { StatusErrorDetails } from "../errors.ts";
import { headerOf, type JsonResponse } from "../http/http-client.ts";
import type { Clock } from "../clock.ts";
import { withoutImageBytes } from "../questions/state.ts";

/** A response with an error status, and what its error may and may not say. */
export interface StatusFailure extends PrivateText {
  readonly response: JsonResponse;
  readonly clock: Clock;
}

/** Returns the details of a status error that both services give in the same way. */
export function commonStatusDetails({ response, clock }: StatusFailure) {
  const { status } = response;
  const header = (name: string) => headerOf(response, name);
  return {
    status,
    isRetryable: isRetryableStatus(status, header("x-should-retry")),
    retryAfterMs: parseRetryAfterMs(header, clock.epochNow()),
  } satisfies Partial<StatusErrorDetails>;
}

const retryableStatuses = new Set([408, 425, 429, 500, 502, 503, 504, 529]);

/** Returns whether a status is worth another attempt, given the `x-should-retry` header. */
export function isRetryableStatus(status: number, shouldRetry: string | null): boolean {
  if (shouldRetry === "false") return false;
  if (status === 409) return shouldRetry === "true";
  return retryableStatuses.has(status) || (status >= 520 && status <= 527);
}

/**
 * Returns a server's name or id for something: passed on when it looks like one and repeats nothing
 * private.
 */
export function passOnName(name: string | null | undefined, failure: StatusFailure): string | null {
  const isName = typeof name === "string" && /^\w{1,60}$/.test(name);
  return isName && quoteServerText(name, failure) !== null ? name : null;
}

/**
 * Returns the message of a status error: who answered what, in whose words, and what to do next.
 */
export function statusMessage(
  who: string,
  { status, type }: Pick<StatusErrorDetails, "status" | "type">,
  { words, advice }: { words: string | null; advice: string },
): string {
  const answered = `${who} answered ${status}${type === null ? "" : ` (${type})`}`;
  return words === null ? `${answered}. ${advice}` : `${answered}: ${words} ${advice}`;
}

/** Returns what to do about an error status, when the service's own words do not say it. */
export function nextStep(status: number): string {
  if (status === 304) return "A cache answered for the service; check the proxy in between.";
  if (status === 0 || (status >= 300 && status <= 399)) {
    return "Redirects are not followed; set the base URL to the final address.";
  }
  if (status === 401 || status === 403) return "Check the key, and that it may use this model.";
  if (status === 402) return "Add credits to the account.";
  if (status === 404) return "Check the base URL and the model id.";
  if (status === 408 || status === 425)
    return "It did not take the request this time; try again later.";
  if (status === 413) return "Send a smaller state.";
  if (status === 429 || status === 529) return "Wait, or send fewer requests at once.";
  if (status === 505)
    return "Put a proxy in front of it that takes HTTP/1.1, which this client sends.";
  if (status >= 500) return "The service failed; try again later.";
  return "Check the request against the service's documentation.";
}

// Chosen, not measured: a message is read in a line or two; a run of two dozen characters is a copy,
// a value of three is in many texts by chance, and a key of eleven may be a mere field name.
const MAX_QUOTE = 300;
const SHARED_RUN = 24;
const SHORTEST_VALUE = 4;
const SHORTEST_KEY = 12;

// All or nothing, and pieces of the state count too: an error can do without the server's words.
// Where text has to go on, the router replaces the secrets in it (its redactor).

/** What must never be repeated from a server's text. */
export interface PrivateText {
  /** The key in use, or null. */
  readonly apiKey: string | null;
  /** The headers that the caller added, whose values may be secrets. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The state that was sent, if any. */
  readonly state?: unknown;
}

/**
 * Quotes a server's own words for an error message: one line, at most 300 characters, and only
 * when they repeat no key, header value or piece of the state; otherwise null.
 */
export function quoteServerText(
  text: unknown,
  { apiKey, headers = {}, state }: PrivateText,
): string | null {
  if (typeof text !== "string" || text.trim() === "") return null;
  // Control characters, line breaks and terminal escapes do not belong in a one-line message.
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  // A piece of an image would be looked for in megabytes, so whatever may be one stays out.
  if (Array.isArray(state) && /[\w+/=-]{24}/.test(line)) return null;
  if (apiKey !== null && (line.includes(apiKey) || sharesRun(line, apiKey, 8))) return null;
  const said = textsOf(withoutImageBytes(state));
  if ([...Object.values(headers), ...said].some((part) => repeats(line, part))) return null;
  return line.length > MAX_QUOTE ? `"${line.slice(0, MAX_QUOTE)}…"` : `"${line}"`;
}

function repeats(line: string, part: string): boolean {
  const flat = part.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  if (flat.length < SHORTEST_VALUE) return false;
  return line.includes(flat) || sharesRun(line, flat, SHARED_RUN);
}

function sharesRun(line: string, secret: string, length: number): boolean {
  for (let start = 0; start + length <= line.length; start += 1) {
    if (secret.includes(line.slice(start, start + length))) return true;
  }
  return false;
}

/** Every string value in a JSON value, and the keys long enough to be more than a field name. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const keys = Object.keys(value).filter((key) => key.length >= SHORTEST_KEY);
  return [...keys, ...Object.values(value).flatMap((item) => textsOf(item))];
}

const httpDates = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
];
const decimal = /^\d+(\.\d+)?$/;
// A hundred years: an absurd wait is still a wait, in a number that a message and a timer can hold.
const LONGEST_WAIT_MS = 36_500 * 86_400_000;
const asctimeDate = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [\d ]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * Returns how long a response asks to wait, in milliseconds, or null when it does not say so
 * clearly. `retry-after-ms` wins over `Retry-After`, which is an HTTP date or seconds: whole ones
 * in RFC 9110, fractions such as 1.5 in the field.
 */
export function parseRetryAfterMs(
  header: (name: string) => string | null,
  epochNowMs: number,
): number | null {
  const waitMs = readWaitMs(header, epochNowMs);
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(0, waitMs), LONGEST_WAIT_MS);
}

function readWaitMs(header: (name: string) => string | null, epochNowMs: number): number {
  const milliseconds = header("retry-after-ms")?.trim() ?? "";
  if (decimal.test(milliseconds)) return Number(milliseconds);
  const retryAfter = header("retry-after")?.trim() ?? "";
  if (decimal.test(retryAfter)) return Number(retryAfter) * 1000;
  return parseHttpDate(retryAfter) - epochNowMs;
}

function parseHttpDate(text: string): number {
  if (httpDates.some((pattern) => pattern.test(text))) return Date.parse(text);
  return asctimeDate.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
}
