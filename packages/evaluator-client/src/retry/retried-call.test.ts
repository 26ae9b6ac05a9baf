import { expect, test } from "vitest";
import { ConnectionError, RateLimitError, StatusError, TimeoutError } from "../errors.ts";
import type { Admission, PacedCall } from "../pacing/call-queue.ts";
import { createPacer, type Pacer } from "../pacing/pacer.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { statusDetails } from "../testing/status-details.ts";
import type { AttemptContext } from "../transports/transport.ts";
import { RetriedCall } from "./retried-call.ts";
import type { RetryPolicy } from "./retry-policy.ts";

function policyWith(clock: ManualClock, changes: Partial<RetryPolicy> = {}): RetryPolicy {
  const limits = { maxRetries: 2, deadlineMs: 60_000, attemptTimeoutMs: 10_000 };
  const random = () => 1;
  const pacer = createPacer({}, { clock, random });
  return { ...limits, pacer, hooks: null, clock, random, ...changes };
}

function never() {
  return new Promise<never>(() => undefined);
}

function reset() {
  return new ConnectionError("It broke.", { isRetryable: true, maybeBilled: true });
}

function rateLimited(retryAfterMs: number | null) {
  return new RateLimitError("Slow down.", statusDetails(429, { retryAfterMs }));
}

/** Runs attempts that fail with the given errors in turn, then succeed; notes when each starts. */
function run(
  errors: readonly unknown[],
  changes: Partial<RetryPolicy> | ((clock: ManualClock) => Partial<RetryPolicy>) = {},
) {
  const clock = new ManualClock();
  const startedAtMs: number[] = [];
  const attempt = async () => {
    startedAtMs.push(clock.now());
    const error = errors[startedAtMs.length - 1];
    if (error !== undefined) throw error;
    return { value: "answer", status: 200, tokensUsed: 1 };
  };
  const changed = typeof changes === "function" ? changes(clock) : changes;
  const outcome = new RetriedCall(policyWith(clock, changed), 1)
    .run(attempt)
    .catch((error: unknown) => error);
  return { clock, startedAtMs, outcome };
}

/** A pacer by which twenty other calls get their answers before each, so that a 429 stands alone. */
function busyPacer(clock: ManualClock): Pacer {
  const pacer = createPacer({}, { clock, random: () => 1 });
  return {
    countsTokens: pacer.countsTokens,
    admit: (call) => pacer.admit(call),
    admitNow(tokens) {
      for (let other = 0; other < 20; other += 1) pacer.admitNow(1)?.succeeded(1);
      return pacer.admitNow(tokens);
    },
  };
}

test("gives the first answer without waiting", async () => {
  const { clock, outcome } = run([]);
  expect(await outcome).toEqual({ value: "answer", attempts: 1 });
  expect(clock.waiting).toBe(0);
});

test("backs off before each retry and counts the attempts", async () => {
  const { clock, startedAtMs, outcome } = run([reset(), reset()]);
  await clock.advance(60_000);
  expect(await outcome).toEqual({ value: "answer", attempts: 3 });
  expect(startedAtMs).toEqual([0, 250, 750]);
  expect(clock.waiting).toBe(0);
});

test("waits as long as Retry-After says", async () => {
  const { clock, startedAtMs, outcome } = run([rateLimited(3000)]);
  await clock.advance(60_000);
  expect(await outcome).toMatchObject({ attempts: 2 });
  expect(startedAtMs).toEqual([0, 3300]);
});

test("throws the last error itself, with the attempts in it", async () => {
  const last = rateLimited(null);
  const { clock, outcome } = run([reset(), reset(), last]);
  await clock.advance(60_000);
  expect(await outcome).toBe(last);
  expect(last.attempts).toBe(3);
  expect(last.message).toMatch(/after 3 attempts\.$/);
  expect(last.stack).toContain("after 3 attempts");
});

test("fails at once when the wait would pass the deadline, and says how long was asked", async () => {
  const { startedAtMs, outcome } = run([rateLimited(60_000)], { deadlineMs: 5000 });
  const error = await outcome;
  expect(error).toBeInstanceOf(RateLimitError);
  expect(error).toMatchObject({ retryAfterMs: 60_000, attempts: 1 });
  expect(error).toHaveProperty("message", expect.stringContaining("asks to wait 60 s"));
  expect(startedAtMs).toHaveLength(1);
});

test.each([0, 1])("makes no more than %d retries when asked to", async (maxRetries) => {
  const { clock, startedAtMs, outcome } = run([reset(), reset(), reset()], { maxRetries });
  await clock.advance(60_000);
  expect(await outcome).toMatchObject({ attempts: maxRetries + 1 });
  expect(startedAtMs).toHaveLength(maxRetries + 1);
});

test("a failure that no retry can help ends the call at its first attempt", async () => {
  const failure = new StatusError("No such key.", statusDetails(401, { isRetryable: false }));
  const { clock, startedAtMs, outcome } = run([failure]);
  await clock.advance(60_000);
  expect(startedAtMs).toEqual([0]);
  expect(await outcome).toBe(failure);
});

test("passes an error it does not know through untouched", async () => {
  const bug = new TypeError("a bug");
  const { startedAtMs, outcome } = run([bug]);
  expect(await outcome).toBe(bug);
  expect(bug).not.toHaveProperty("attempts");
  expect(startedAtMs).toHaveLength(1);
});

test("ends an attempt at its own limit and tries again", async () => {
  const clock = new ManualClock();
  const signals: AbortSignal[] = [];
  const attempt = ({ signal }: AttemptContext) => {
    signals.push(signal);
    return never();
  };
  const outcome = new RetriedCall(policyWith(clock, { maxRetries: 1 }), 1)
    .run(attempt)
    .catch((e: unknown) => e);
  await clock.advance(30_000);
  const error = await outcome;
  expect(error).toBeInstanceOf(TimeoutError);
  expect(error).toMatchObject({
    limit: "attempt",
    timeoutMs: 10_000,
    attempts: 2,
    maybeBilled: true,
  });
  expect(signals.map((signal) => signal.aborted)).toEqual([true, true]);
  expect(clock.waiting).toBe(0);
});

test("ends everything at the deadline", async () => {
  const clock = new ManualClock();
  const policy = policyWith(clock, { deadlineMs: 4000 });
  const outcome = new RetriedCall(policy, 1).run(never).catch((error: unknown) => error);
  await clock.advance(4000);
  expect(clock.waiting).toBe(0);
  expect(await outcome).toMatchObject({
    name: "TimeoutError",
    limit: "deadline",
    timeoutMs: 4000,
    attempts: 1,
  });
});

test("throws the caller's reason before, during and between attempts", async () => {
  const reason = { why: "enough" };
  const before = run([], { signal: AbortSignal.abort(reason) });
  expect(await before.outcome).toBe(reason);
  expect(before.startedAtMs).toEqual([]);

  const during = new AbortController();
  const clock = new ManualClock();
  const policy = policyWith(clock, { signal: during.signal });
  const outcome = new RetriedCall(policy, 1).run(never).catch((error: unknown) => error);
  during.abort(reason);
  expect(await outcome).toBe(reason);
  expect(clock.waiting).toBe(0);

  const between = new AbortController();
  const backingOff = run([rateLimited(5000)], { signal: between.signal });
  await backingOff.clock.advance(1000);
  between.abort(reason);
  expect(await backingOff.outcome).toBe(reason);
  expect(backingOff.startedAtMs).toHaveLength(1);
  expect(backingOff.clock.waiting).toBe(0);
});

test("a batch counts the answers of all its calls", async () => {
  const answered = { count: 0 };
  const { clock, outcome } = run([rateLimited(null)], {
    answered,
    freeRetries: 2,
    maxRetries: 1,
  });
  await clock.advance(60_000);
  expect(await outcome).toMatchObject({ attempts: 2 });
  expect(answered.count).toBe(1);
});

test("a stray 429 backs off from a second, anything else from a quarter of one", async () => {
  const stray = run([rateLimited(null)], (clock) => ({ pacer: busyPacer(clock) }));
  await stray.clock.advance(60_000);
  expect(stray.startedAtMs).toEqual([0, 1000]);
  const other = run([reset()], (clock) => ({ pacer: busyPacer(clock) }));
  await other.clock.advance(60_000);
  expect(other.startedAtMs).toEqual([0, 250]);
});

test("only a stray 429 uses up free retries", async () => {
  const { clock, outcome } = run([reset(), reset()], { maxRetries: 1, freeRetries: 5 });
  await clock.advance(60_000);
  expect(await outcome).toMatchObject({ name: "ConnectionError", attempts: 2 });
});

test("goes through waits and attempts that no hook asks about", async () => {
  const { clock, outcome } = run([reset(), rateLimited(null)], { hooks: {} });
  await clock.advance(60_000);
  expect(await outcome).toMatchObject({ attempts: 3 });
});

/** A pacer that refuses every call as over the limit, and the retries that each call reported. */
function limitingPacer(probes: RateLimitError | null = null) {
  const retries: number[] = [];
  const admission: Admission = {
    probes,
    succeeded: () => undefined,
    throttled: () => "limit",
    ended: () => undefined,
  };
  const admit = async (call: PacedCall) => (retries.push(call.retries), admission);
  return { retries, pacer: { countsTokens: false, admitNow: () => null, admit } };
}

test("tells the pacer how many retries it has used, and counts no answer from before it", async () => {
  const { retries, pacer } = limitingPacer();
  const limits = { maxRetries: 1, freeRetries: 5, answered: { count: 3 } };
  const { startedAtMs, outcome } = run([rateLimited(0), rateLimited(0)], { pacer, ...limits });
  expect(await outcome).toMatchObject({ attempts: 2 });
  expect([startedAtMs.length, retries]).toEqual([2, [0, 1]]);
});

test.each([
  ["the attempt's own limit if that is shorter", 10_000, { limit: "attempt", timeoutMs: 500 }],
  ["the end of its patience if that is sooner", 200, { limit: "attempt", timeoutMs: 200 }],
  ["a millisecond if its patience is over", -5, { limit: "attempt", timeoutMs: 1 }],
])("a probe waits until %s", async (_, maxWaitMs, expected) => {
  const { pacer } = limitingPacer(rateLimited(null));
  const clock = new ManualClock();
  const waitLimit = { maxWaitMs, isMeant: () => true };
  const policy = { pacer, maxRetries: 0, attemptTimeoutMs: 500, waitLimit };
  const outcome = new RetriedCall(policyWith(clock, policy), 1)
    .run(never)
    .catch((error: unknown) => error);
  await clock.advance(500);
  expect(clock.waiting).toBe(0);
  expect(await outcome).toMatchObject(expected);
});

test("a message with a dollar sign is the same in the stack", async () => {
  const { outcome } = run([
    new StatusError("It costs $& more.", statusDetails(400, { isRetryable: false })),
  ]);
  expect(await outcome).toMatchObject({
    message: "It costs $& more.",
    stack: expect.stringContaining("StatusError: It costs $& more.\n") as string,
  });
});
