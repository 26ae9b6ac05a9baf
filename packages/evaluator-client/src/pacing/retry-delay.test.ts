import { expect, test } from "vitest";
import { retryDelayMs } from "./retry-delay.ts";

test.each([
  { retries: 0, isThrottled: false, retryAfterMs: null, random: 1, delayMs: 250 },
  { retries: 0, isThrottled: false, retryAfterMs: null, random: 0, delayMs: 0 },
  { retries: 3, isThrottled: false, retryAfterMs: null, random: 0.5, delayMs: 1000 },
  { retries: 9, isThrottled: false, retryAfterMs: null, random: 1, delayMs: 8000 },
  { retries: 0, isThrottled: true, retryAfterMs: null, random: 1, delayMs: 1000 },
  { retries: 9, isThrottled: true, retryAfterMs: null, random: 1, delayMs: 8000 },
  { retries: 2, isThrottled: true, retryAfterMs: 0, random: 1, delayMs: 0 },
  { retries: 0, isThrottled: true, retryAfterMs: 2000, random: 0.5, delayMs: 2100 },
  { retries: 0, isThrottled: true, retryAfterMs: 60_000, random: 1, delayMs: 61_000 },
])("waits $delayMs ms after $retries retries", ({ delayMs, ...input }) => {
  expect(retryDelayMs(input)).toBe(delayMs);
});
