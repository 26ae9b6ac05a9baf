import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { type Clock, readRuntime, sleep } from "../clock.ts";
import {
  ConnectionError,
  InvalidResponseError,
  RateLimitError,
  RefusalError,
  StatusError,
} from "../errors.ts";
import type { Admission } from "../pacing/call-queue.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { statusDetails } from "../testing/status-details.ts";
import type { AttemptContext } from "../transports/transport.ts";
import { Attempt } from "./retried-call.ts";

const timedOut = new Error("It took too long.");

/** An attempt of one request, whose pacer does not care how it ends. */
function attemptOn(clock: Clock): Attempt {
  const admission: Admission = {
    succeeded: () => undefined,
    throttled: () => "limit",
    ended: () => undefined,
  };
  const waitForTurn = () => Promise.reject(new Error("nobody sends several requests here"));
  return new Attempt({ clock }, admission, { waitForTurn });
}

/** Runs an attempt of at most a second, and returns what is left to watch. */
function run(
  send: (context: AttemptContext) => Promise<unknown>,
  controller = new AbortController(),
) {
  const clock = new ManualClock();
  const { signal } = controller;
  const limits = { signal, timeoutMs: 1000, leftMs: Infinity, createTimeoutError: () => timedOut };
  const outcome = attemptOn(clock).run(send, limits);
  const expectNothingLeft = () => {
    expect(clock.waiting).toBe(0);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  };
  return { clock, controller, outcome, expectNothingLeft };
}

test("gives what the attempt gives", async () => {
  const { clock, outcome, expectNothingLeft } = run(async () => "answer");
  expect(await outcome).toBe("answer");
  await clock.advance(0);
  expectNothingLeft();
});

test("throws what the attempt throws", async () => {
  const { clock, outcome, expectNothingLeft } = run(() => Promise.reject(new Error("broken")));
  await expect(outcome).rejects.toThrow("broken");
  await clock.advance(0);
  expectNothingLeft();
});

test("ends an attempt that does not listen when its time is up", async () => {
  const signals: AbortSignal[] = [];
  const { clock, outcome, expectNothingLeft } = run((context) => {
    signals.push(context.signal);
    return new Promise(() => undefined);
  });
  const thrown = outcome.catch((error: unknown) => error);
  await clock.advance(999);
  expect(signals[0]?.aborted).toBe(false);
  await clock.advance(1);
  expect(await thrown).toBe(timedOut);
  expect(signals[0]?.reason).toBe(timedOut);
  expectNothingLeft();
});

test("a remainder that no clock can measure does not keep an attempt going", async () => {
  // At this time the clock's numbers are 1.2e-10 ms apart, and 2.3e-11 ms of the limit are left.
  const clock = new ManualClock();
  await clock.advance(1_000_000.3);
  let timers = 0;
  const counting = {
    now: () => clock.now(),
    epochNow: () => clock.epochNow(),
    schedule(delayMs: number, callback: () => void) {
      timers += 1;
      if (timers > 5) throw new Error("It is scheduled again and again.");
      return clock.schedule(delayMs, callback);
    },
  };
  const limits = {
    signal: undefined,
    timeoutMs: 0.6,
    leftMs: Infinity,
    createTimeoutError: () => timedOut,
  };
  const runtime = readRuntime({ clock: counting });
  const outcome = attemptOn(runtime.clock).run(() => new Promise(() => undefined), limits);
  const ended = outcome.catch((error: unknown) => error);
  await clock.advance(10);
  expect(await ended).toBe(timedOut);
});

test("ends an attempt that does not listen when the caller aborts", async () => {
  const signals: AbortSignal[] = [];
  const { controller, outcome, expectNothingLeft } = run((context) => {
    signals.push(context.signal);
    return new Promise(() => undefined);
  });
  controller.abort("enough");
  await expect(outcome).rejects.toBe("enough");
  expect(signals[0]?.reason).toBe("enough");
  expectNothingLeft();
});

test("attempts nothing for a caller that has aborted", async () => {
  const controller = new AbortController();
  controller.abort("enough");
  let attempts = 0;
  const { outcome, expectNothingLeft } = run(async () => (attempts += 1), controller);
  await expect(outcome).rejects.toBe("enough");
  expect(attempts).toBe(0);
  expectNothingLeft();
});

test("needs no signal of a caller", async () => {
  const clock = new ManualClock();
  const limits = {
    signal: undefined,
    timeoutMs: 1,
    leftMs: Infinity,
    createTimeoutError: () => timedOut,
  };
  const never = attemptOn(clock).run(() => new Promise(() => undefined), limits);
  const thrown = never.catch((error: unknown) => error);
  await clock.advance(1);
  expect(await thrown).toBe(timedOut);
});

test("aborts its signal and tells its listeners why", () => {
  const attempt = attemptOn(new ManualClock());
  const reasons: unknown[] = [];
  const { signal } = attempt;
  attempt.onAbort((reason) => reasons.push(reason));
  expect(signal.aborted).toBe(false);
  expect(reasons).toEqual([]);
  attempt.abort("enough");
  expect(signal.reason).toBe("enough");
  expect(reasons).toEqual(["enough"]);
});

test("always gives the same signal", () => {
  const attempt = attemptOn(new ManualClock());
  expect(attempt.signal).toBe(attempt.signal);
});

test.each([undefined, "enough"])("tells those who ask after an abort of %s at once", (reason) => {
  const attempt = attemptOn(new ManualClock());
  attempt.abort(reason);
  const reasons: unknown[] = [];
  attempt.onAbort((given) => reasons.push(given));
  expect(reasons).toEqual([reason]);
  expect(attempt.signal.aborted).toBe(true);
});

test("ends after the delay and leaves no listener", async () => {
  const clock = new ManualClock();
  const { signal } = new AbortController();
  const ended: number[] = [];
  const slept = sleep(500, { clock, signal }).then(() => ended.push(clock.now()));
  await clock.advance(499);
  expect(ended).toEqual([]);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  await clock.advance(1);
  await slept;
  expect(ended).toEqual([500]);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("ends after the delay without a signal", async () => {
  const clock = new ManualClock();
  const slept = sleep(500, { clock });
  await clock.advance(500);
  await expect(slept).resolves.toBeUndefined();
});

test("rejects with the signal's reason at once, and leaves neither timer nor listener", async () => {
  const clock = new ManualClock();
  const controller = new AbortController();
  const { signal } = controller;
  const slept = sleep(500, { clock, signal });
  controller.abort("enough");
  await expect(slept).rejects.toBe("enough");
  expect(clock.waiting).toBe(0);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("does not begin when the signal has aborted", async () => {
  const clock = new ManualClock();
  const signal = AbortSignal.abort("enough");
  await expect(sleep(500, { clock, signal })).rejects.toBe("enough");
  expect(clock.waiting).toBe(0);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test.each([
  ["a rate limit", new RateLimitError("", statusDetails(429)), "limit"],
  ["an unavailable service", new StatusError("", statusDetails(503)), "limit"],
  ["a failing service", new StatusError("", statusDetails(500)), "retryable"],
  [
    "a rate limit not to be retried",
    new RateLimitError("", statusDetails(429, { isRetryable: false })),
    "final",
  ],
  ["a reset", new ConnectionError("", { isRetryable: true, maybeBilled: true }), "retryable"],
  ["a broken answer", new InvalidResponseError("", { questionId: null, rule: "x" }), "final"],
  ["a refusal", new RefusalError("", { questionIds: [] }), "final"],
])("takes %s as %s", (_, error, expected) => {
  expect(attemptOn(new ManualClock()).failed(error)).toBe(expected);
});
