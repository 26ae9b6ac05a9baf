import { expect, test } from "vitest";
import { RateInTime } from "../testing/rate-in-time.ts";

/** A rate of so many a second that was found from 40 successes. */
function found(perSecond: number): RateInTime {
  return new RateInTime().succeed(39, 20_000 / perSecond / 39).pause(20_000 / perSecond);
}

// No rule takes longer, so that a broken one ends a test and does not hang it.
const LONGEST = 1000;

/** Goes on at a rate's own pace until that holds; returns after how many successes. */
function successesUntil(time: RateInTime, holds: () => boolean): number {
  let successes = 0;
  for (; !holds() && successes < LONGEST; successes += 1) time.succeed(1);
  return successes;
}

/** Goes on until the rate is raised; returns what it was, and after how many successes. */
function untilRaised(time: RateInTime): readonly [perSecond: number, successes: number] {
  successesUntil(time, () => time.rate.isRecovered);
  const { perSecond } = time;
  return [perSecond, successesUntil(time, () => time.perSecond !== perSecond)];
}

/** A rate that was found, and throttled once it was raised. */
function throttledAbove(perSecond: number): RateInTime {
  const time = found(perSecond);
  untilRaised(time);
  time.succeed(6);
  time.rate.throttled(time.nowMs);
  return time;
}

test.each([
  ["15 s", 20, 334],
  ["300 successes", 2, 300],
  ["500 successes, as they take longer than 200 s", 1, 500],
])("closes in on a limit, holds for %s at %i a second, then explores", (_, perSecond, held) => {
  const time = throttledAbove(perSecond);
  const raises = Array.from({ length: 9 }, () => untilRaised(time));
  const settled = raises.findIndex(([, successes]) => successes > 51);
  const [limit, successes] = raises[settled] ?? [0, 0];
  expect(limit).toBeGreaterThan(1.05 * perSecond);
  expect(limit).toBeLessThan(1.15 * perSecond);
  expect(successes).toBe(51 + held);
  const growths = [1, 2, 3].map((step) => {
    const [before, after] = [raises[settled + step - 1], raises[settled + step]];
    return Number(((after?.[0] ?? 0) / (before?.[0] ?? 0)).toFixed(2));
  });
  expect(growths).toEqual([1.01, 1.02, 1.04]);
});

test.each([
  [18, 9],
  [19, 51],
])(
  "tries twice the rate that was found from %i successes and one after %i more",
  (successes, raisedAfter) => {
    const time = new RateInTime().succeed(successes, 100).pause(1000);
    expect(untilRaised(time)[1]).toBe(raisedAfter);
  },
);

test("a limit that shows while rates are compared ends that", () => {
  const time = new RateInTime().succeed(100, 10);
  for (let stray = 0; stray < 3; stray += 1) time.stray().succeed(10, 10);
  time.rate.throttled(time.nowMs);
  expect([time.perSecond, time.rate.isTrying, time.rate.isNoisy]).toEqual([49, true, false]);
  time.nowMs += 2000;
  time.succeed(1).rate.reopened(time.nowMs);
  const raises = [untilRaised(time), untilRaised(time)];
  expect([...raises, time.perSecond]).toEqual([[60.57, 63], [63.4, 66], 65.38]);
});

test("the third limit in a row begins a comparison, which a pause does not end", () => {
  const time = found(20).succeed(30);
  const rates = [1, 2, 3, 4].map(() => {
    time.succeed(6).pause(1500);
    return [time.perSecond, time.rate.isTrying];
  });
  expect(rates).toEqual([
    [15.58, true],
    [3.71, true],
    [2.6, false],
    [2.05, true],
  ]);
});

test.each([
  ["is taken for too fast", 0, [14, 15.8, 17.06]],
  ["that held before is tried a little below", 60, [20.93, 28.1, 28.64]],
])("a rate throttled as more came through in a burst %s", (_, successes, after) => {
  const time = found(20).succeed(successes).succeed(60, 15);
  time.rate.throttled(time.nowMs);
  const fallen = time.perSecond;
  expect([fallen, untilRaised(time)[0], untilRaised(time)[0]]).toEqual(after);
});

test.each([
  ["as much", "what the window let through, and holds it for a minute", 600, 10.02, 603],
  ["half as much", "less than it had grown to, and is raised soon", 300, 12.92, 51],
])("after a second long pause with %s before it, a rate is %s", (_, __, successes, rate, held) => {
  const time = new RateInTime().succeed(600, 50).pause(30_000);
  expect(time.perSecond).toBe(10.02);
  time.succeed(successes, 50);
  expect(time.perSecond).toBe(33.69);
  time.pause(30_000);
  expect(untilRaised(time)).toEqual([rate, held]);
});

test.each([
  [1000, 5, "falls"],
  [999, 5, "stays"],
  [1000, 4, "stays"],
])("%i ms and %i successes after a fall, a limit's rate %s", (afterMs, successes, what) => {
  const time = found(20).succeed(60);
  time.rate.throttled(time.nowMs);
  const fallen = time.nowMs;
  time.succeed(successes, 1);
  const { perSecond } = time;
  time.nowMs = fallen + afterMs;
  time.rate.throttled(time.nowMs);
  expect(time.perSecond < perSecond ? "falls" : "stays").toBe(what);
});

test.each([
  [30, 1300, 15.58],
  [30, 2200, 15.58],
  [30, 3000, 7.79],
  [5, 400, 9.23],
])("%i successes at 20 a second and a pause of %i ms make it %f", (successes, pauseMs, rate) => {
  const time = found(20).succeed(successes).pause(pauseMs);
  expect([time.perSecond, time.rate.isTrying]).toEqual([rate, true]);
});

test.each([
  ["just found, which is far above what surely holds", 0, false],
  ["tried 15 % above what held", 1, true],
  ["tried 30 % above it", 2, true],
  ["tried half above it", 3, false],
])("a throttled answer overshoots at a rate %s: %s raises, %s", (_, raises, isOvershot) => {
  const time = found(20);
  for (let raise = 0; raise < raises; raise += 1) untilRaised(time);
  successesUntil(time, () => time.rate.isRecovered);
  expect(time.rate.overshot(time.nowMs, time.nowMs)).toBe(isOvershot);
});

test("a settled rate is tried no more, and a throttled answer is no overshoot", () => {
  const time = throttledAbove(20);
  expect(time.succeed(200).rate.isTrying).toBe(true);
  time.succeed(250);
  expect([time.rate.isTrying, time.rate.overshot(time.nowMs, time.nowMs)]).toEqual([false, false]);
});

test("one stray at a lower rate is not yet noise; the rate before is that of half a second", () => {
  const time = new RateInTime().succeed(60, 100).succeed(100, 10);
  time.nowMs -= 8;
  for (let stray = 0; stray < 3; stray += 1) {
    time.stray();
    if (stray < 2) time.succeed(10, 10).nowMs -= 8;
  }
  expect(time.perSecond).toBeGreaterThan(70);
  expect(time.perSecond).toBeLessThan(75);
  expect(time.succeed(10).stray().rate.isNoisy).toBe(false);
  expect(time.succeed(10).stray().rate.isNoisy).toBe(true);
});
