import { expect, test, vi } from "vitest";
import { systemClock } from "./clock.ts";

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

test("a wait longer than a timer can hold does not end at once", async () => {
  let hasEnded = false;
  const cancel = systemClock.schedule(2 ** 40, () => (hasEnded = true));
  await new Promise((resolve) => setTimeout(resolve, 5));
  cancel();
  expect(hasEnded).toBe(false);
});
