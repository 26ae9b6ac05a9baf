import { expect, test } from "vitest";
import type { Failure } from "./attempt.ts";
import { RetryCount, type RetryLimits } from "./retry-count.ts";

/** Returns after how many failed attempts a call gives up; each one waits while others are answered. */
function attemptsUntilGivenUp(
  failures: Iterable<Failure>,
  limits: Omit<RetryLimits, "answered">,
  others: readonly number[] = [],
): number {
  const answered = { count: 0 };
  const count = new RetryCount({ ...limits, answered }, 0);
  let attempts = 0;
  for (const failure of failures) {
    answered.count += others[attempts] ?? 0;
    attempts += 1;
    if (!count.allows(failure)) return attempts;
  }
  return Number.POSITIVE_INFINITY;
}

const always = (failure: Failure) => Array.from({ length: 50 }, () => failure);

test.each<[string, Failure, Omit<RetryLimits, "answered">, number]>([
  ["a final failure ends the call", "final", { maxRetries: 2, freeRetries: 30 }, 1],
  ["any failure costs a retry", "retryable", { maxRetries: 2, freeRetries: 30 }, 3],
  [
    "a limit costs a retry while no call is answered",
    "limit",
    { maxRetries: 2, freeRetries: 30 },
    3,
  ],
  ["a stray costs a free retry first", "stray", { maxRetries: 2, freeRetries: 5 }, 8],
  ["there are no free retries without retries", "stray", { maxRetries: 0, freeRetries: 5 }, 1],
  ["there are none by default", "stray", { maxRetries: 2 }, 3],
])("%s", (_, failure, limits, attempts) => {
  expect(attemptsUntilGivenUp(always(failure), limits)).toBe(attempts);
});

test("a limit costs a free retry while other calls are answered", () => {
  const limits = { maxRetries: 2, freeRetries: 5 };
  const others = Array.from({ length: 50 }, () => 1);
  expect(attemptsUntilGivenUp(always("limit"), limits, others)).toBe(8);
});

test("refusals before the first answer of a batch are forgiven once one comes", () => {
  const limits = { maxRetries: 2, freeRetries: 5 };
  // Two refusals with no answer, then an answer: three more may come without one.
  expect(attemptsUntilGivenUp(always("limit"), limits, [0, 0, 1])).toBe(6);
  expect(attemptsUntilGivenUp(always("limit"), limits, [0, 0, 0])).toBe(3);
  // They take from the free ones: 5 in all, and then the 3 of any call.
  const others = [0, 0, ...Array.from({ length: 48 }, () => 1)];
  expect(attemptsUntilGivenUp(always("limit"), limits, others)).toBe(8);
});

test("a failure that is no refusal is not forgiven", () => {
  const limits = { maxRetries: 1, freeRetries: 5 };
  expect(attemptsUntilGivenUp(["retryable", "retryable"], limits, [0, 5])).toBe(2);
  expect(attemptsUntilGivenUp(["retryable", "limit", "retryable"], limits, [0, 5])).toBe(3);
});
