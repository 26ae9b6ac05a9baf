import { expect, test } from "vitest";
import { ManualClock } from "../testing/manual-clock.ts";
import { nextStep, quoteServerText, type StatusFailure, toStatusError } from "./status-failure.ts";

const now = Date.UTC(1994, 10, 6, 8, 49, 7);

/** Returns the error for a status, some headers, and an error type and text of the service. */
function errorOf(
  status: number,
  {
    headers = {},
    type = null,
    text = null,
    ...secrets
  }: { headers?: Record<string, string>; type?: unknown; text?: string | null; apiKey?: string },
) {
  const clock = Object.assign(new ManualClock(), { epochNow: () => now });
  const response = { status, headers, json: null, text: "" };
  const failure: StatusFailure = { response, clock, apiKey: null, state: "text", ...secrets };
  const details = { service: "The service", requestId: null, advice: "Wait." };
  return toStatusError(failure, { ...details, type: type as string | null, text });
}

const redirect = "Redirects are not followed; set the base URL to the final address.";
const key = "Check the key, and that it may use this model.";
const slower = "Wait, or send fewer requests at once.";
const later = "The service failed; try again later.";
const again = "It did not take the request this time; try again later.";
const other = "Check the request against the service's documentation.";

test.each<[number, string]>([
  [0, redirect],
  [199, other],
  [299, other],
  [300, redirect],
  [303, redirect],
  [304, "A cache answered for the service; check the proxy in between."],
  [308, redirect],
  [399, redirect],
  [400, other],
  [401, key],
  [402, "Add credits to the account."],
  [403, key],
  [404, "Check the base URL and the model id."],
  [408, again],
  [409, other],
  [425, again],
  [413, "Send a smaller state."],
  [422, other],
  [429, slower],
  [499, other],
  [500, later],
  [505, "Put a proxy in front of it that takes HTTP/1.1, which this client sends."],
  [529, slower],
  [599, later],
])("advises on %d: %s", (status, advice) => {
  expect(nextStep(status)).toBe(advice);
});

test.each([
  [400, "StatusError"],
  [401, "AuthenticationError"],
  [403, "AuthenticationError"],
  [429, "RateLimitError"],
  [503, "StatusError"],
  [529, "RateLimitError"],
])("a status of %d is a %s", (status, name) => {
  expect(errorOf(status, {}).name).toBe(name);
});

test.each<[string | null, string | null, string]>([
  [null, null, "The service answered 500. Wait."],
  ["overloaded", null, "The service answered 500 (overloaded). Wait."],
  [null, "Sorry.", 'The service answered 500: "Sorry." Wait.'],
  ["overloaded", "Sorry.", 'The service answered 500 (overloaded): "Sorry." Wait.'],
  [null, "no stop", 'The service answered 500: "no stop". Wait.'],
])("reports type %j and text %j", (type, words, message) => {
  expect(errorOf(500, { type, text: words }).message).toBe(message);
});

test.each<[unknown, string | null]>([
  ["rate_limit_exceeded", "rate_limit_exceeded"],
  ["gen_1", "gen_1"],
  ["x".repeat(60), "x".repeat(60)],
  ["x".repeat(61), null],
  ["two words", null],
  ["two\nlines", null],
  ["", null],
  [7, null],
  [null, null],
  [undefined, null],
  ["a_key_of_letters", null],
])("passes %j on as %j", (name, passed) => {
  expect(errorOf(500, { type: name, apiKey: "a_key_of_letters" }).type).toBe(passed);
});

function isRetried(status: number, shouldRetry: string | null): boolean {
  const headers: Record<string, string> =
    shouldRetry === null ? {} : { "x-should-retry": shouldRetry };
  return errorOf(status, { headers }).isRetryable;
}

test.each([408, 425, 429, 500, 502, 503, 504, 520, 523, 527, 529])("retries %d", (status) => {
  expect(isRetried(status, null)).toBe(true);
  expect(isRetried(status, "false")).toBe(false);
});

test.each([0, 301, 307, 400, 401, 402, 403, 404, 409, 413, 422, 501, 505, 519, 528])(
  "does not retry %d",
  (status) => {
    expect(isRetried(status, null)).toBe(false);
  },
);

test("retries 409 only if the service asks for it", () => {
  expect(isRetried(409, "true")).toBe(true);
  for (const other of [null, "", "false", "TRUE", "1", "maybe"])
    expect(isRetried(409, other)).toBe(false);
  expect(isRetried(400, "true")).toBe(false);
});

const none = {
  apiKey: "planted-secret-key",
  state: { note: "the quick brown fox jumps over the dog" },
};

test.each<[string, unknown, string | null]>([
  ["words", "Model not found.", '"Model not found."'],
  ["words between blanks", "\n Model not found. ", '"Model not found."'],
  ["several lines with escapes", "a\r\n\u001b[31mb", '"a [31mb"'],
  ["no text", { message: "x" }, null],
  ["blank text", "  ", null],
  ["the key", "Invalid key planted-secret-key", '"Invalid key …"'],
  ["a part of the key", "Invalid key planted-s…", '"Invalid key …"'],
  ["the end of the key at its own end", "Invalid key …cret-key", '"Invalid key …"'],
  ["the key in two parts", "Invalid key planted-s and ecret-key", '"Invalid key … and …"'],
  ["a value of the state", `bad input: ${none.state.note}`, null],
  ["a long run of the state", "bad input: quick brown fox jumps over…", null],
])("quotes %s as it may", (_, text, expected) => {
  expect(quoteServerText(text, none)).toBe(expected);
});

test("a key of few letters hides nothing", () => {
  expect(quoteServerText("Invalid key.", { apiKey: "k" })).toBe('"Invalid key."');
});

test("cuts text of more than 300 characters", () => {
  expect(quoteServerText("x".repeat(300), none)).toBe(`"${"x".repeat(300)}"`);
  expect(quoteServerText("x".repeat(301), none)).toBe(`"${"x".repeat(300)}…"`);
});

test("looks into nested states and long keys", () => {
  const state = { a: [{ "someone@example.com": { b: "deep  value" } }, null, 7, true] };
  expect(quoteServerText("bad: deep value", { apiKey: null, state })).toBeNull();
  expect(quoteServerText("bad: someone@example.com", { apiKey: null, state })).toBeNull();
  expect(quoteServerText("bad", { apiKey: null, state })).toBe('"bad"');
});

test.each([
  ["twelve_chars", null],
  ["eleven_char", '"bad eleven_char"'],
])("takes the key %s of a state for private, or for a field's name", (key, quoted) => {
  expect(quoteServerText(`bad ${key}`, { apiKey: null, state: { [key]: 1 } })).toBe(quoted);
});

test.each([
  [" quagga\n", "bad quagga!", null],
  ["four", "bad four!", null],
  ["ten", "bad ten!", '"bad ten!"'],
])("of the header value %j, quotes %j as %j", (value, text, quoted) => {
  expect(quoteServerText(text, { apiKey: null, headers: { "x-a": value } })).toBe(quoted);
});

const aHundredYears = 36_500 * 86_400_000;

test.each<[Record<string, string>, number | null]>([
  [{}, null],
  [{ "retry-after": "0" }, 0],
  [{ "retry-after": "120" }, 120_000],
  [{ "retry-after-ms": "1500.5" }, 1500.5],
  [{ "retry-after-ms": "1500", "retry-after": "9" }, 1500],
  [{ "retry-after-ms": "soon", "retry-after": "9" }, 9000],
  [{ "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT" }, 30_000],
  [{ "retry-after": "Sunday, 06-Nov-94 08:49:37 GMT" }, 30_000],
  [{ "retry-after": "Sun Nov  6 08:49:37 1994" }, 30_000],
  [{ "retry-after": "Sun, 06 Nov 1994 08:00:00 GMT" }, 0],
  [{ "retry-after": "Sun, 99 Nov 1994 08:00:00 GMT" }, null],
  [{ "retry-after": " 7 " }, 7000],
  [{ "retry-after-ms": " 1500.25 " }, 1500.25],
  [{ "retry-after-ms": "x1500" }, null],
  [{ "retry-after-ms": "1500x" }, null],
  [{ "retry-after-ms": "1." }, null],
  [{ "retry-after": "Sun Nov 16 08:49:07 1994" }, 864_000_000],
  [{ "retry-after": "x Sun, 06 Nov 1994 08:49:37 GMT" }, null],
  [{ "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT+1" }, null],
  [{ "retry-after": "x Sunday, 06-Nov-94 08:49:37 GMT" }, null],
  [{ "retry-after": "Sunday, 06-Nov-94 08:49:37 GMT+1" }, null],
  [{ "retry-after": "x Sun Nov  6 08:49:37 1994" }, null],
  [{ "retry-after": "Sun Nov  6 08:49:37 1994+1" }, null],
  [{ "retry-after": "7 s" }, null],
  [{ "retry-after": "in 7" }, null],
  [{ "retry-after": "1.5" }, 1500],
  [{ "retry-after": "0.25" }, 250],
  [{ "retry-after": ".5" }, null],
  [{ "retry-after": "1.5.5" }, null],
  [{ "retry-after": "1e3" }, null],
  [{ "retry-after": "3153600000" }, aHundredYears],
  [{ "retry-after": "3153599999" }, aHundredYears - 1000],
  [{ "retry-after": "9".repeat(400) }, aHundredYears],
  [{ "retry-after-ms": "9".repeat(400), "retry-after": "9" }, aHundredYears],
  [{ "retry-after": "Fri, 31 Dec 9999 23:59:59 GMT" }, aHundredYears],
  [{ "retry-after": "-1" }, null],
  [{ "retry-after": "1994-11-06T08:49:37Z" }, null],
  [{ "retry-after": "" }, null],
])("reads %j as %s ms", (headers, expected) => {
  expect(errorOf(503, { headers }).retryAfterMs).toBe(expected);
});
