import { expect, test } from "vitest";
import { LongWindow, RateComparison, StrayNoise } from "./rate-evidence.ts";

/** Pauses of a window: when each began, when it was over, and what went through since the one before. */
type Pause = readonly [pausedAtMs: number, reopenedAtMs: number, deliveredPerMs: number];

function lengthAfter(...pauses: readonly Pause[]): number {
  const window = new LongWindow();
  for (const [pausedAtMs, nowMs, deliveredPerMs] of pauses) {
    window.reopened(nowMs, { pausedAtMs, deliveredPerMs });
  }
  return window.lengthMs;
}

test.each<[string, number, Pause[]]>([
  [
    "two long pauses with as much before each",
    60_000,
    [
      [5000, 20_000, 1],
      [65_000, 80_000, 1],
    ],
  ],
  [
    "a pause of just ten seconds",
    25_000,
    [
      [5000, 15_000, 1],
      [30_000, 40_000, 1],
    ],
  ],
  ["the first pause of all", 0, [[5000, 20_000, 1]]],
  [
    "a second pause that is short",
    0,
    [
      [5000, 20_000, 1],
      [70_001, 80_000, 1],
    ],
  ],
  [
    "a first pause that is short",
    0,
    [
      [10_001, 20_000, 1],
      [65_000, 80_000, 1],
    ],
  ],
  [
    "a little less before the second",
    60_000,
    [
      [5000, 20_000, 1],
      [65_000, 80_000, 0.81],
    ],
  ],
  [
    "four fifths before the second",
    0,
    [
      [5000, 20_000, 1],
      [65_000, 80_000, 0.8],
    ],
  ],
  [
    "a little more before the second",
    60_000,
    [
      [5000, 20_000, 1],
      [65_000, 80_000, 1.24],
    ],
  ],
  [
    "five fourths before the second",
    0,
    [
      [5000, 20_000, 1],
      [65_000, 80_000, 1.25],
    ],
  ],
  [
    "a third pause that is like the second",
    30_000,
    [
      [0, 20_000, 4],
      [65_000, 80_000, 1],
      [95_000, 110_000, 1],
    ],
  ],
])("a long window shows by %s: %i ms", (_, lengthMs, pauses) => {
  expect(lengthAfter(...pauses)).toBe(lengthMs);
});

/** Noise that has gone so many successes. */
function noiseAfter(successes: number, noise = new StrayNoise()): StrayNoise {
  for (let success = 0; success < successes; success += 1) noise.succeeded(0);
  return noise;
}

test.each([
  [5, false],
  [6, true],
])("a throttled answer %i successes after the last stands alone: %s", (successes, isAlone) => {
  const noise = new StrayNoise();
  expect(noise.standsAlone()).toBe(true);
  expect(noiseAfter(successes, noise).standsAlone()).toBe(isAlone);
});

test.each([
  [0, [false, false, true, false]],
  [34, [false, false, false, true]],
  [36, [false, false, false, false]],
  [70, [false, false, false, false]],
])("strays with %i successes before each are doubtful: %j", (successes, doubtful) => {
  const noise = new StrayNoise();
  expect(doubtful.map(() => noiseAfter(successes, noise).isDoubtful())).toEqual(doubtful);
});

test("noise is known for 2,000 successes and a minute", () => {
  const noise = new StrayNoise();
  noise.confirm(1000);
  noiseAfter(5000, noise);
  noise.succeeded(60_999);
  expect(noise.isKnown).toBe(true);
  noise.succeeded(61_000);
  expect(noise.isKnown).toBe(false);
  noise.confirm(0);
  for (let success = 0; success < 1999; success += 1) noise.succeeded(60_000);
  expect(noise.isKnown).toBe(true);
  noise.succeeded(60_000);
  expect(noise.isKnown).toBe(false);
});

test("a comparison concerns what was sent since it began, its first millisecond included", () => {
  const comparison = new RateComparison(0.1, 1000);
  expect([comparison.concerns(999), comparison.concerns(1000)]).toEqual([false, true]);
});

test("a comparison ends with 120 successes or the second stray", () => {
  const comparison = new RateComparison(0.1, 0);
  const successes = Array.from({ length: 120 }, () => comparison.succeeded());
  expect(successes.indexOf(true)).toBe(119);
  const other = new RateComparison(0.1, 0);
  expect([other.strayed(), other.strayed()]).toEqual([false, true]);
});
