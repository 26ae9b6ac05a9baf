import type { Clock } from "../clock.ts";
import { AuthenticationError, RateLimitError, StatusError } from "../errors.ts";
import { findHeader, type JsonResponse } from "../http/http-response.ts";
import { withoutImageBytes } from "../questions/state.ts";

/** A response with an error status, and the private text that its error must not contain. */
export interface StatusFailure {
  readonly response: JsonResponse;
  readonly clock: Clock;
  readonly apiKey: string | null;
  /** The headers that the caller added, whose values may be secrets. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly state?: unknown;
}

type PrivateText = Omit<StatusFailure, "response" | "clock">;

interface ServiceFailure {
  readonly service: string;
  readonly type: string | null | undefined;
  readonly text: string | null | undefined;
  readonly requestId: string | null;
  /** @default null */
  readonly generationId?: string | null | undefined;
  /** @default true for status 402 */
  readonly needsPaidCredits?: boolean;
  readonly advice: string;
  /** The wait that the body asks for, if no header does, in milliseconds or null. */
  readonly retryAfterMs?: number | null;
  /** Whether sending again cannot help, whatever the status is. @default false */
  readonly isFinal?: boolean;
  /** @default by status */
  readonly errorClass?: typeof StatusError | undefined;
}

/** Makes the error for an error status. It quotes the service only if the text is not private. */
export function toStatusError(failure: StatusFailure, details: ServiceFailure): StatusError {
  const { response, clock } = failure;
  const { status } = response;
  const { service, requestId, advice, needsPaidCredits = status === 402, isFinal } = details;
  const header = (name: string) => findHeader(response, name);
  const type = passOnName(details.type, failure);
  const words = quoteServerText(details.text, failure);
  const answeredText = `${service} answered ${status}${type === null ? "" : ` (${type})`}`;
  const { errorClass: ErrorClass = classFor(status) } = details;
  return new ErrorClass(
    `${answeredText}${words === null ? "." : `: ${asSentence(words)}`} ${advice}`,
    {
      status,
      type,
      requestId,
      generationId: passOnName(details.generationId, failure),
      needsPaidCredits,
      isRetryable: isFinal !== true && isRetryableStatus(status, header("x-should-retry")),
      shouldRetry: isFinal === true ? false : shouldRetryFrom(header("x-should-retry")),
      retryAfterMs: parseRetryAfterMs(header, clock.epochNow()) ?? details.retryAfterMs ?? null,
    },
  );
}

function asSentence(words: string): string {
  return /[.!?…]"$/.test(words) ? words : `${words}.`;
}

function classFor(status: number): typeof StatusError {
  if (status === 401 || status === 403) return AuthenticationError;
  return status === 429 || status === 529 ? RateLimitError : StatusError;
}

function shouldRetryFrom(header: string | null): boolean | null {
  return header === "true" || header === "false" ? header === "true" : null;
}

const retryableStatuses = new Set([408, 425, 429, 500, 502, 503, 504, 529]);

function isRetryableStatus(status: number, shouldRetry: string | null): boolean {
  if (shouldRetry === "false") return false;
  if (status === 409) return shouldRetry === "true";
  return retryableStatuses.has(status) || (status >= 520 && status <= 527);
}

function passOnName(name: string | null | undefined, failure: StatusFailure): string | null {
  const isName = typeof name === "string" && /^\w{1,60}$/.test(name);
  return isName && quoteServerText(name, failure) === `"${name}"` ? name : null;
}

const checkKey = "Check the key, and that it may use this model.";
const tryLater = "It did not take the request this time; try again later.";
const slowDown = "Wait, or send fewer requests at once.";
const nextSteps: Readonly<Record<number, string>> = {
  304: "A cache answered for the service; check the proxy in between.",
  401: checkKey,
  402: "Add credits to the account.",
  403: checkKey,
  404: "Check the base URL and the model id.",
  408: tryLater,
  413: "Send a smaller state.",
  425: tryLater,
  429: slowDown,
  505: "Put a proxy in front of it that takes HTTP/1.1, which this client sends.",
  529: slowDown,
};

/** Returns the advice for an error status. */
export function nextStep(status: number): string {
  const knownStep = nextSteps[status];
  if (knownStep !== undefined) return knownStep;
  if (status === 0 || (status >= 300 && status <= 399)) {
    return "Redirects are not followed; set the base URL to the final address.";
  }
  return status >= 500
    ? "The service failed; try again later."
    : "Check the request against the service's documentation.";
}

/** The advice for a request that is over the service's limit. */
export const tooLong =
  "The state and its questions are too long for the service; cut the state, or ask fewer questions.";

const aboutLength =
  /too long|too many tokens|token limit|context (?:length|window|size)|max(?:imum)? (?:context|input|tokens|number of tokens)|tokens (?:is|are) (?:more|larger)/i;

/** Returns whether the words of a refused request are about its length; services have no common code for it. */
export function isAboutLength(text: string | null): boolean {
  return text !== null && aboutLength.test(text.slice(0, 2000));
}

// Chosen, not measured: a run of 24 characters is a copy, a value of three is in many texts by chance,
// and a key of eleven may be a field name.
const MAX_QUOTE = 300;
const SHARED_RUN = 24;
const SHARED_KEY = 8;
const SHORTEST_VALUE = 4;
const SHORTEST_KEY = 12;

/** Quotes a server's text in one line of at most 300 characters, without parts of the key; null if it repeats a header value or the state. */
export function quoteServerText(text: unknown, { apiKey, headers = {}, state }: PrivateText) {
  if (typeof text !== "string" || text.trim() === "") return null;
  const line = hideKey(text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim(), apiKey);
  // A search for parts of images would read megabytes, so any text that may be one is refused.
  if (Array.isArray(state) && /[\w+/=-]{24}/.test(line)) return null;
  const sentNames = listTexts(withoutImageBytes(state));
  if ([...Object.values(headers), ...sentNames].some((part) => repeats(line, part))) return null;
  return line.length > MAX_QUOTE ? `"${line.slice(0, MAX_QUOTE)}…"` : `"${line}"`;
}

/** Replaces each word that shares letters with the key, if the line repeats the key or a part of it. */
function hideKey(line: string, apiKey: string | null): string {
  if (apiKey === null || apiKey.length < SHORTEST_VALUE) return line;
  if (!line.includes(apiKey) && !sharesRun(line, apiKey, SHARED_KEY)) return line;
  const hide = (word: string) => (sharesRun(word, apiKey, SHORTEST_VALUE) ? "…" : word);
  return line.split(" ").map(hide).join(" ");
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

/** Returns each string in a JSON value, and the keys that are too long for a field name. */
function listTexts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const keys = Object.keys(value).filter((key) => key.length >= SHORTEST_KEY);
  return [...keys, ...Object.values(value).flatMap((item) => listTexts(item))];
}

const httpDates = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
];
const decimal = /^\d+(\.\d+)?$/;
// A hundred years, which a message and a timer can still hold.
const LONGEST_WAIT_MS = 36_500 * 86_400_000;
const asctimeDate = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [\d ]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/** Returns the wait in `retry-after-ms`, else in `Retry-After` (an HTTP date or seconds, also fractions), or null. */
function parseRetryAfterMs(header: (name: string) => string | null, epochNowMs: number) {
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
