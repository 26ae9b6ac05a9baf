import { expect, test } from "vitest";
import {
  ConnectionError,
  InvalidResponseError,
  RateLimitError,
  RefusalError,
  StatusError,
} from "../errors.ts";
import { classifyFailure, isRetryableStatus } from "./attempt.ts";

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

function details(status: number, isRetryable = true) {
  const ids = { type: null, requestId: null, generationId: null };
  return { status, isRetryable, ...ids, retryAfterMs: null, needsPaidCredits: false };
}

test.each([
  ["a rate limit", new RateLimitError("", details(429)), "throttled"],
  ["an unavailable service", new StatusError("", details(503)), "throttled"],
  ["a failing service", new StatusError("", details(500)), "retryable"],
  ["a rate limit not to be retried", new RateLimitError("", details(429, false)), "final"],
  ["a reset", new ConnectionError("", { isRetryable: true, maybeBilled: true }), "retryable"],
  ["a broken answer", new InvalidResponseError("", { questionId: null, rule: "x" }), "final"],
  ["a refusal", new RefusalError("", { questionIds: [] }), "final"],
])("takes %s as %s", (_, error, expected) => {
  expect(classifyFailure(error)).toBe(expected);
});
