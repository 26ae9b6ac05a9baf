import { expect, test } from "vitest";
import {
  ConnectionError,
  InvalidResponseError,
  RateLimitError,
  RefusalError,
  StatusError,
} from "../errors.ts";
import { classifyFailure } from "./attempt.ts";

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
