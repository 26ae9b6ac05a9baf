import { expect, test } from "vitest";
import { ManualClock } from "../testing/manual-clock.ts";
import {
  isRetryableStatus,
  nextStep,
  passOnName,
  type StatusFailure,
  statusMessage,
} from "./status-failure.ts";

const redirect = "Redirects are not followed; set the base URL to the final address.";
const key = "Check the key, and that it may use this model.";
const slower = "Wait, or send fewer requests at once.";
const later = "The service failed; try again later.";
const other = "Check the request against the service's documentation.";

test.each<[number, string]>([
  [0, redirect],
  [199, other],
  [299, other],
  [300, redirect],
  [308, redirect],
  [399, redirect],
  [400, other],
  [401, key],
  [402, "Add credits to the account."],
  [403, key],
  [404, "Check the base URL and the model id."],
  [413, "Send a smaller state."],
  [422, other],
  [429, slower],
  [499, other],
  [500, later],
  [529, slower],
  [599, later],
])("advises on %d: %s", (status, advice) => {
  expect(nextStep(status)).toBe(advice);
});

test.each<[string | null, string | null, string]>([
  [null, null, "The service answered 500. Wait."],
  ["overloaded", null, "The service answered 500 (overloaded). Wait."],
  [null, '"Sorry."', 'The service answered 500: "Sorry." Wait.'],
  ["overloaded", '"Sorry."', 'The service answered 500 (overloaded): "Sorry." Wait.'],
])("tells type %j and words %j", (type, words, message) => {
  const told = statusMessage("The service", { status: 500, type }, { words, advice: "Wait." });
  expect(told).toBe(message);
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
  const failure = { apiKey: "a_key_of_letters", state: "text", clock: new ManualClock() };
  expect(passOnName(name as string, failure as unknown as StatusFailure)).toBe(passed);
});

test.each([408, 425, 429, 500, 502, 503, 504, 520, 523, 527, 529])("retries %d", (status) => {
  expect(isRetryableStatus(status, null)).toBe(true);
  expect(isRetryableStatus(status, "false")).toBe(false);
});

test.each([0, 301, 307, 400, 401, 402, 403, 404, 409, 413, 422, 501, 505, 519, 528])(
  "does not retry %d",
  (status) => {
    expect(isRetryableStatus(status, null)).toBe(false);
  },
);

test("retries 409 only when the service says so", () => {
  expect(isRetryableStatus(409, "true")).toBe(true);
  expect(isRetryableStatus(400, "true")).toBe(false);
});
