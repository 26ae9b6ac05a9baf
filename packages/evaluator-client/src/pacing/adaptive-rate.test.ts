import { expect, test } from "vitest";
import { AdaptiveRate } from "./adaptive-rate.ts";

/** A rate that has found 20 requests a second: 20 went through in the second up to a pause. */
function twentyPerSecond(): AdaptiveRate {
  const rate = new AdaptiveRate();
  succeed(rate, 10, 5000);
  succeed(rate, 10, 5900);
  rate.reopened(6000);
  return rate;
}

function succeed(rate: AdaptiveRate, times: number, nowMs = 20_000): void {
  for (let time = 0; time < times; time += 1) rate.succeeded(nowMs);
}

/** Requests per second, to four places. */
function perSecond(rate: AdaptiveRate): number {
  return Number((1000 / rate.intervalMs).toFixed(4));
}

test("sends without a pause until it knows a limit", () => {
  const rate = new AdaptiveRate();
  expect(rate.intervalMs).toBe(0);
  rate.throttled(0);
  succeed(rate, 2000);
  rate.throttled(2000);
  expect(rate.intervalMs).toBe(0);
  expect(rate.isRecovered).toBe(true);
});

test("takes over what went through from the first success to the end of the pause", () => {
  const rate = twentyPerSecond();
  expect(rate.intervalMs).toBe(50);
  expect(rate.isRecovered).toBe(true);
});

test("takes a single success in no time as one a millisecond", () => {
  const rate = new AdaptiveRate();
  rate.succeeded(1000);
  rate.reopened(1000);
  expect(rate.intervalMs).toBe(1);
});

test("falls by 30 %, at most once a second", () => {
  const rate = twentyPerSecond();
  rate.throttled(10_000);
  expect(perSecond(rate)).toBe(14);
  expect(rate.isRecovered).toBe(false);
  rate.throttled(10_999);
  expect(perSecond(rate)).toBe(14);
  rate.throttled(11_000);
  expect(perSecond(rate)).toBe(9.8);
});

test("counts a throttled answer before any limit is known towards that second", () => {
  const rate = new AdaptiveRate();
  succeed(rate, 20, 0);
  rate.throttled(500);
  rate.reopened(1000);
  rate.throttled(1499);
  expect(perSecond(rate)).toBe(20);
  rate.throttled(1500);
  expect(perSecond(rate)).toBe(14);
});

test("keeps its rate over a pause when at least 70 % of it went through", () => {
  const rate = twentyPerSecond();
  succeed(rate, 15, 6000);
  rate.reopened(7000);
  expect(perSecond(rate)).toBe(20);
  succeed(rate, 13, 7000);
  rate.reopened(8000);
  expect(perSecond(rate)).toBe(13);
});

test("measures what went through against the rate it has come back to", () => {
  const rate = twentyPerSecond();
  rate.throttled(6500);
  succeed(rate, 12, 6500);
  rate.reopened(7500);
  expect(perSecond(rate)).toBe(17);
  succeed(rate, 11, 7500);
  rate.reopened(8500);
  expect(perSecond(rate)).toBe(11);
});

test("comes back in small steps, half way to what was throttled", () => {
  const rate = twentyPerSecond();
  rate.throttled(10_000);
  succeed(rate, 1);
  expect(perSecond(rate)).toBe(15.7);
  expect(rate.isRecovered).toBe(false);
  succeed(rate, 1);
  expect(perSecond(rate)).toBe(17);
  expect(rate.isRecovered).toBe(true);
  succeed(rate, 49);
  expect(perSecond(rate)).toBe(17);
});

test("keeps what held when a rate between is throttled", () => {
  const rate = twentyPerSecond();
  rate.throttled(10_000);
  succeed(rate, 2);
  rate.throttled(11_000);
  expect(perSecond(rate)).toBe(11.9);
  succeed(rate, 4);
  expect(perSecond(rate)).toBe(15.5);
});

test("trusts no rate that never held", () => {
  const rate = twentyPerSecond();
  rate.throttled(10_000);
  rate.throttled(11_000);
  succeed(rate, 5);
  expect(perSecond(rate)).toBe(11.9);
});

test("halves the gap to what was throttled every 50 successes, then holds", () => {
  const rate = twentyPerSecond();
  rate.throttled(10_000);
  const targets = [];
  for (const successes of [2, 51, 51, 50, 500, 449]) {
    succeed(rate, successes);
    targets.push(perSecond(rate));
  }
  expect(targets).toEqual([17, 18.5, 19.25, 19.25, 19.25, 19.25]);
});

test("explores by 1 %, then by twice as much each time, after a thousand successes", () => {
  const rate = twentyPerSecond();
  rate.throttled(10_000);
  succeed(rate, 2 + 51 + 51 + 50);
  succeed(rate, 999);
  expect(perSecond(rate)).toBe(19.25);
  succeed(rate, 1);
  expect(rate.isRecovered).toBe(false);
  succeed(rate, 1);
  expect(perSecond(rate)).toBe(19.4425);
  succeed(rate, 51);
  expect(perSecond(rate)).toBe(19.8314);
  succeed(rate, 51);
  expect(perSecond(rate)).toBe(20.6246);
});

test("goes back just below a rate that held when exploring is throttled", () => {
  const rate = twentyPerSecond();
  rate.throttled(10_000);
  succeed(rate, 2 + 51 + 51 + 50 + 1001);
  expect(perSecond(rate)).toBe(19.4425);
  rate.throttled(30_000);
  expect(perSecond(rate)).toBe(13.6098);
  succeed(rate, 4);
  expect(perSecond(rate)).toBe(19.2481);
  rate.throttled(40_000);
  succeed(rate, 4);
  // That rate never held, so the search starts lower.
  expect(perSecond(rate)).toBe(16.3609);
});

test("grows by 15 %, 30 % and so on from a rate that was only measured", () => {
  const rate = twentyPerSecond();
  succeed(rate, 50);
  expect(perSecond(rate)).toBe(20);
  expect(rate.isRecovered).toBe(false);
  succeed(rate, 1);
  expect(perSecond(rate)).toBe(22.3);
  succeed(rate, 1);
  expect(perSecond(rate)).toBe(23);
  succeed(rate, 50 + 3);
  expect(perSecond(rate)).toBe(29.9);
});
