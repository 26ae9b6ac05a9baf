import { expect, test } from "vitest";
import type { Clock } from "../clock.ts";
import { ConnectionError, InvalidResponseError, RateLimitError } from "../errors.ts";
import type { Admission, Pacer } from "../index.ts";
import { statusDetails } from "../testing/status-details.ts";
import { RetriedCall } from "./retried-call.ts";
import type { RetryPolicy } from "./retry-policy.ts";

type Limits = Pick<RetryPolicy, "maxRetries" | "freeRetries">;

const errors = {
  final: () => new InvalidResponseError("No.", { questionId: null, rule: "body-shape" }),
  retryable: () => new ConnectionError("It broke.", { isRetryable: true, maybeBilled: true }),
  limit: () => new RateLimitError("Slow down.", statusDetails(429)),
  stray: () => new RateLimitError("Slow down.", statusDetails(429)),
};
type Failure = keyof typeof errors;

/** Returns after how many failed attempts a call gives up; each one waits while others are answered. */
async function attemptsUntilGivenUp(
  failures: readonly Failure[],
  limits: Limits,
  others: readonly number[] = [],
): Promise<number> {
  const answered = { count: 0 };
  let attempts = 0;
  const admission: Admission = {
    succeeded: () => undefined,
    throttled: () => (failures[attempts - 1] === "limit" ? "limit" : "stray"),
    ended: () => undefined,
  };
  const admitNow = () => admission;
  const pacer: Pacer = { countsTokens: false, admitNow, admit: async () => admission };
  const send = async () => {
    answered.count += others[attempts] ?? 0;
    attempts += 1;
    throw errors[failures[attempts - 1] as Failure]();
  };
  const times = { deadlineMs: Infinity, attemptTimeoutMs: Infinity };
  const chance = { clock: withoutWaits, random: () => 0 };
  const policy = { ...limits, ...times, ...chance, answered, pacer, hooks: null };
  const error = await new RetriedCall(policy, 1).run(send).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ attempts });
  return attempts;
}

/** Every wait of a retry is over at once. */
const withoutWaits: Clock = {
  now: () => 0,
  epochNow: () => 0,
  schedule(delayMs, callback) {
    if (delayMs === 0) queueMicrotask(callback);
    return () => undefined;
  },
};

const always = (failure: Failure) => Array.from({ length: 50 }, () => failure);

test.each<[string, Failure, Limits, number]>([
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
])("%s", async (_, failure, limits, attempts) => {
  expect(await attemptsUntilGivenUp(always(failure), limits)).toBe(attempts);
});

test("a limit costs a free retry while other calls are answered", async () => {
  const limits = { maxRetries: 2, freeRetries: 5 };
  const others = Array.from({ length: 50 }, () => 1);
  expect(await attemptsUntilGivenUp(always("limit"), limits, others)).toBe(8);
});

test("refusals before the first answer of a batch are forgiven once one comes", async () => {
  const limits = { maxRetries: 2, freeRetries: 5 };
  // Two refusals with no answer, then an answer: three more may come without one.
  expect(await attemptsUntilGivenUp(always("limit"), limits, [0, 0, 1])).toBe(6);
  expect(await attemptsUntilGivenUp(always("limit"), limits, [0, 0, 0])).toBe(3);
  // They take from the free ones: 5 in all, and then the 3 of any call.
  const others = [0, 0, ...Array.from({ length: 48 }, () => 1)];
  expect(await attemptsUntilGivenUp(always("limit"), limits, others)).toBe(8);
});

test("a failure that is no refusal is not forgiven", async () => {
  const limits = { maxRetries: 1, freeRetries: 5 };
  expect(await attemptsUntilGivenUp(["retryable", "retryable"], limits, [0, 5])).toBe(2);
  expect(await attemptsUntilGivenUp(["retryable", "limit", "retryable"], limits, [0, 5])).toBe(3);
});

test("a refusal is forgiven once, so other failures end the call as early as before", async () => {
  const failures: Failure[] = ["limit", "limit", "limit", "retryable", "retryable", "limit"];
  const limits = { maxRetries: 2, freeRetries: 5 };
  const others = [0, 0, 1, 0, 0, 1];
  const all = [...failures, ...always("retryable")];
  expect(await attemptsUntilGivenUp(all, limits, others)).toBe(7);
});
