import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { ManualClock } from "../testing/manual-clock.ts";
import type { AttemptContext } from "../transports/transport.ts";
import { runAttempt } from "./run-attempt.ts";

const timedOut = new Error("It took too long.");

/** Runs an attempt of at most a second, and gives what is left to watch. */
function run(
  attempt: (context: AttemptContext) => Promise<unknown>,
  controller = new AbortController(),
) {
  const clock = new ManualClock();
  const { signal } = controller;
  const limits = { clock, signal, timeoutMs: 1000, createTimeoutError: () => timedOut };
  const outcome = runAttempt(attempt, limits);
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
  const limits = { clock, signal: undefined, timeoutMs: 1, createTimeoutError: () => timedOut };
  const never = runAttempt(() => new Promise(() => undefined), limits);
  const thrown = never.catch((error: unknown) => error);
  await clock.advance(1);
  expect(await thrown).toBe(timedOut);
});
