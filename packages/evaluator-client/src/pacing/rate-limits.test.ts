import { expect, test } from "vitest";
import { scaleLimits, TokenBucket } from "./rate-limits.ts";

test("gives one second's worth at once, then refills evenly", () => {
  const bucket = new TokenBucket(10);
  for (let taken = 0; taken < 10; taken += 1) {
    expect(bucket.delayMs(1, 0)).toBe(0);
    bucket.take(1, 0);
  }
  expect(bucket.delayMs(1, 0)).toBeCloseTo(100);
  expect(bucket.delayMs(1, 60)).toBeCloseTo(40);
  expect(bucket.delayMs(1, 100)).toBe(0);
});

test("never holds more than its capacity", () => {
  const bucket = new TokenBucket(10);
  bucket.take(10, 0);
  expect(bucket.delayMs(10, 5000)).toBe(0);
  bucket.take(10, 5000);
  expect(bucket.delayMs(1, 5000)).toBeCloseTo(100);
  bucket.take(-100, 5000);
  bucket.take(10, 5000);
  expect(bucket.delayMs(1, 5000)).toBeCloseTo(100);
});

test("lets one through when it refills slower than one a second", () => {
  const bucket = new TokenBucket(0.5);
  bucket.take(1, 0);
  expect(bucket.delayMs(1, 0)).toBeCloseTo(2000);
});

test("lets an amount over its capacity through when full, and pays it back", () => {
  const bucket = new TokenBucket(10);
  expect(bucket.delayMs(25, 0)).toBe(0);
  bucket.take(25, 0);
  expect(bucket.delayMs(1, 0)).toBeCloseTo(1600);
});

test.each([
  [{}, {}],
  [{ requestsPerMinute: 100 }, { requestsPerMinute: 95 }],
  [{ tokensPerSecond: 200 }, { tokensPerSecond: 190 }],
])("95 %% of the limits %j are %j", (limits, scaled) => {
  expect(scaleLimits(limits, 0.95)).toEqual(scaled);
});
