import { expect, test } from "vitest";
import { RateInTime } from "../testing/rate-in-time.ts";

/** A rate that has found 20 requests a second: 39 and the one that went first in two seconds. */
function twentyPerSecond(): RateInTime {
  return new RateInTime().succeed(39, 1000 / 39).pause(1000);
}

test("sends without a pause until it knows a limit", () => {
  const time = new RateInTime().succeed(5000, 1);
  expect(time.rate.intervalMs).toBe(0);
  time.rate.throttled(time.nowMs);
  expect(time.rate.intervalMs).toBe(0);
  expect(time.rate.isRecovered).toBe(true);
  expect(time.rate.isTrying).toBe(false);
});

test("takes over what went through from the first success to the end of the pause", () => {
  const time = twentyPerSecond();
  expect(time.perSecond).toBe(20);
  expect(time.rate.isRecovered).toBe(true);
});

test("forgets the slow hours before a burst that was throttled", () => {
  const time = new RateInTime().succeed(100, 10_000).succeed(40, 25).pause(1000);
  expect(time.perSecond).toBeGreaterThan(20);
});

test("falls by 30 % at a throttled answer, then comes back in small steps to less", () => {
  const time = twentyPerSecond().succeed(10);
  time.rate.throttled(time.nowMs);
  expect(time.perSecond).toBe(14);
  expect(time.rate.isRecovered).toBe(false);
  time.succeed(3);
  expect(time.rate.isRecovered).toBe(true);
  expect(time.perSecond).toBe(15.8);
});

test("falls once for what one limit throttles", () => {
  const time = twentyPerSecond().succeed(10);
  time.rate.throttled(time.nowMs);
  time.nowMs += 5000;
  time.rate.throttled(time.nowMs);
  expect(time.perSecond).toBe(14);
});

test("keeps its search over a pause in which at least half of what held went through", () => {
  const time = twentyPerSecond().succeed(60).pause(1000);
  expect(time.perSecond).toBeGreaterThan(14);
});

test("starts anew, at no less than a half, when far less went through than what held", () => {
  const time = twentyPerSecond().succeed(20).pause(60_000);
  expect(time.perSecond).toBeGreaterThan(7);
  expect(time.perSecond).toBeLessThan(8);
});

test("doubles soon when it was measured from few successes", () => {
  const time = new RateInTime().succeed(3, 100).pause(1000);
  const measured = time.perSecond;
  time.succeed(8 + 5);
  expect(time.perSecond).toBeCloseTo(2 * measured, 1);
});

test("grows by 15 %, 30 %, then at most by half, after 50 successes and a second each", () => {
  const time = twentyPerSecond();
  const rates = new Set<number>();
  for (let success = 0; success < 300 && rates.size < 5; success += 1)
    if (time.succeed(1).rate.isRecovered) rates.add(time.perSecond);
  expect([...rates]).toEqual([20, 23, 29.9, 44.85, 67.27]);
  expect(time.nowMs).toBeGreaterThan(2000 + 4000);
});

test("does not grow while fewer are sent than it allows", () => {
  const time = twentyPerSecond().succeed(500, 200);
  expect(time.perSecond).toBe(20);
});

test("closes in from what held to what was throttled, then holds, and explores after 1,000", () => {
  const time = twentyPerSecond().succeed(53).succeed(3);
  time.rate.throttled(time.nowMs);
  const rates = [];
  for (let step = 0; step < 8; step += 1) rates.push(time.succeed(53).perSecond);
  expect(rates.toSorted((a, b) => a - b)).toEqual(rates);
  expect(rates.at(-1)).toBeLessThan(23);
  expect(rates.at(-1)).toBeGreaterThan(0.95 * 23 * 0.98);
  expect(rates.at(-1)).toBe(rates.at(-2));
  expect(time.succeed(1000).perSecond).toBeGreaterThan(rates.at(-1) ?? 0);
});

test("is not lowered by a single stray while it holds without a limit", () => {
  const time = new RateInTime().succeed(1000, 10).stray().succeed(1000, 10);
  expect(time.rate.intervalMs).toBe(0);
});

/** A rate without a limit that compares a lower one, since strays came often. */
function comparing(): RateInTime {
  const time = new RateInTime().succeed(100, 10);
  for (let stray = 0; stray < 3; stray += 1) time.stray().succeed(10, 10);
  expect(time.perSecond).toBeCloseTo(70, -1);
  return time;
}

test("takes strays for noise when a lower rate does not end them", () => {
  const time = comparing().stray().succeed(10).stray();
  expect(time.rate.intervalMs).toBe(0);
  expect(time.rate.isNoisy).toBe(true);
  for (let stray = 0; stray < 100; stray += 1) time.stray().succeed(20, 10);
  expect(time.rate.intervalMs).toBe(0);
});

test("takes strays for a limit when a lower rate ends them", () => {
  const time = comparing().succeed(120);
  expect(time.rate.isNoisy).toBe(false);
  expect(time.rate.isTrying).toBe(true);
  expect(time.succeed(60).perSecond).toBeGreaterThan(70);
  expect(time.succeed(600).perSecond).toBeLessThan(100);
});

test("does not count strays that were sent before the rate was lowered", () => {
  const time = comparing();
  const sentAtMs = time.nowMs - 5000;
  for (let stray = 0; stray < 5; stray += 1) {
    time.succeed(10);
    time.rate.strayed(sentAtMs, time.nowMs);
  }
  expect(time.rate.isNoisy).toBe(false);
});

test("listens to strays again after 2,000 successes and a minute", () => {
  const time = comparing().stray().succeed(10).stray();
  expect(time.succeed(3000, 10).rate.isNoisy).toBe(true);
  expect(time.succeed(4000, 10).rate.isNoisy).toBe(false);
});

test("forgets the noise when a limit shows", () => {
  const time = comparing().stray().succeed(10).stray();
  time.pause(1000);
  expect(time.rate.isNoisy).toBe(false);
  expect(time.perSecond).toBeLessThan(100);
});
