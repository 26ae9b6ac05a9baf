import { getEventListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { describeWait, readRuntime, untilAborted } from "./clock.ts";

const { clock: systemClock } = readRuntime({});

test("the system clock tells monotonic and calendar time", () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 21) });
  const startedAtMs = systemClock.now();
  expect(systemClock.epochNow()).toBe(Date.UTC(2026, 10, 21));
  vi.advanceTimersByTime(1500);
  expect(systemClock.now() - startedAtMs).toBe(1500);
  expect(systemClock.epochNow()).toBe(Date.UTC(2026, 10, 21) + 1500);
  vi.useRealTimers();
});

test("the system clock calls back once after the delay, unless cancelled", () => {
  vi.useFakeTimers();
  const called: string[] = [];
  systemClock.schedule(100, () => called.push("kept"));
  const cancel = systemClock.schedule(100, () => called.push("cancelled"));
  cancel();
  vi.advanceTimersByTime(99);
  expect(called).toEqual([]);
  vi.advanceTimersByTime(1000);
  expect(called).toEqual(["kept"]);
  vi.useRealTimers();
});

test("a delay that has passed ends at once, without a warning of Node", async () => {
  const warn = vi.spyOn(process, "emitWarning");
  await new Promise<void>((resolve) => systemClock.schedule(-1, resolve));
  expect(warn).not.toHaveBeenCalled();
  warn.mockRestore();
});

test("a wait longer than a timer can hold does not end at once", async () => {
  let hasEnded = false;
  const cancel = systemClock.schedule(2 ** 40, () => (hasEnded = true));
  await new Promise((resolve) => setTimeout(resolve, 5));
  cancel();
  expect(hasEnded).toBe(false);
});

test.each([
  [0, "0 ms"],
  [6500, "6500 ms"],
  [1500.25, "1501 ms"],
  [10_000, "10000 ms"],
  [10_001, "11 s"],
  [60_000, "60 s"],
  [119_000, "119 s"],
  [120_000, "2 minutes"],
  [3_600_000, "60 minutes"],
  [7_200_000, "2 hours"],
  [99_999_000, "28 hours"],
  [172_800_000, "2 days"],
  [30 * 86_400_000, "30 days"],
])("%d ms is a wait of %s", (ms, wait) => {
  expect(describeWait(ms)).toBe(wait);
});

test("settles as the promise does and leaves no listener", async () => {
  const { signal } = new AbortController();
  expect(await untilAborted(Promise.resolve("done"), signal)).toBe("done");
  const broken = new Error("broken");
  await expect(untilAborted(Promise.reject(broken), signal)).rejects.toBe(broken);
  await setImmediate();
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("rejects with the signal's reason once it aborts", async () => {
  const controller = new AbortController();
  const outcome = untilAborted(new Promise(() => undefined), controller.signal);
  controller.abort("enough");
  await expect(outcome).rejects.toBe("enough");
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});

test.each([
  [3.6e-12, 0.001],
  [0, 0],
  [1.0004, 1.0004],
])("a given clock has a delay of %d ms as %d ms", (delayMs, roundedMs) => {
  const delays: number[] = [];
  const schedule = (given: number) => {
    delays.push(given);
    return () => undefined;
  };
  const { clock } = readRuntime({ clock: { ...systemClock, schedule } });
  clock.schedule(delayMs, () => undefined);
  expect(delays).toEqual([roundedMs]);
});
