import { expect, test } from "vitest";
import { seededRandom } from "../testing/limited-service.ts";
import { Gate, LimitDetector, retryDelayMs, type ThrottledCall } from "./gate.ts";

function throttled(changes: Partial<ThrottledCall> = {}): ThrottledCall {
  return { passedAtMs: 0, nowMs: 0, retryAfterMs: null, random: 1, ...changes };
}

test("is open at first, and stays open when calls pass", () => {
  const gate = new Gate();
  gate.pass();
  expect(gate.isPaused).toBe(false);
  expect(gate.delayMs(0)).toBe(0);
  expect(gate.closedForMs(0)).toBe(0);
});

test("closes for a while after a throttled answer", () => {
  const gate = new Gate();
  expect(gate.close(throttled({ nowMs: 100 }))).toBe(true);
  expect(gate.isPaused).toBe(true);
  expect(gate.delayMs(100)).toBe(1000);
  expect(gate.closedForMs(100)).toBe(1000);
  expect(gate.delayMs(1050)).toBe(50);
  expect(gate.closedForMs(1050)).toBe(50);
  expect(gate.delayMs(2000)).toBe(0);
  expect(gate.closedForMs(2000)).toBe(0);
  expect(gate.isPaused).toBe(true);
});

test("lets one call try first, and opens only when it succeeds", () => {
  const gate = new Gate();
  gate.close(throttled({ retryAfterMs: 5000, random: 0 }));
  gate.pass();
  expect(gate.isPaused).toBe(false);
  expect(gate.delayMs(5000)).toBe(Number.POSITIVE_INFINITY);
  expect(gate.closedForMs(4000)).toBe(1000);
  expect(gate.closedForMs(6000)).toBe(0);
  gate.open();
  expect(gate.isPaused).toBe(false);
  expect(gate.delayMs(5000)).toBe(0);
  expect(gate.delayMs(0)).toBe(0);
  expect(gate.closedForMs(0)).toBe(0);
});

test("counts an answer to the call that went first in the very moment of closing", () => {
  const gate = new Gate();
  gate.close(throttled({ nowMs: 100, random: 0 }));
  gate.pass();
  expect(gate.close(throttled({ passedAtMs: 100, nowMs: 100 }))).toBe(true);
  expect(gate.delayMs(100)).toBe(2000);
});

test("lets the next call try when the first one ends without an answer", () => {
  const gate = new Gate();
  gate.close(throttled());
  gate.pass();
  gate.tryAgain();
  expect(gate.isPaused).toBe(true);
  expect(gate.delayMs(400)).toBe(600);
  expect(gate.delayMs(1000)).toBe(0);
});

test("stays closed longer each time in a row, up to 8 s, and forgets once open", () => {
  const gate = new Gate();
  const pauses = [];
  for (let nowMs = 0; pauses.length < 5; nowMs += 10_000) {
    gate.close(throttled({ passedAtMs: nowMs, nowMs }));
    pauses.push(gate.delayMs(nowMs));
    gate.pass();
  }
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 8000]);
  gate.open();
  gate.close(throttled({ passedAtMs: 90_000, nowMs: 90_000 }));
  expect(gate.delayMs(90_000)).toBe(1000);
});

test("stays closed as long as the service asks, and a little longer", () => {
  const gate = new Gate();
  gate.close(throttled({ nowMs: 100, retryAfterMs: 5000 }));
  expect(gate.delayMs(100)).toBe(5500);
});

test("takes an answer to a call from before the pause as old news", () => {
  const gate = new Gate();
  gate.close(throttled({ passedAtMs: 0, nowMs: 100 }));
  expect(gate.close(throttled({ passedAtMs: 99, nowMs: 500 }))).toBe(false);
  expect(gate.delayMs(500)).toBe(600);
  gate.pass();
  expect(gate.close(throttled({ passedAtMs: 0, nowMs: 1100 }))).toBe(false);
  expect(gate.isPaused).toBe(false);
  expect(gate.close(throttled({ passedAtMs: 1100, nowMs: 1200 }))).toBe(true);
  expect(gate.delayMs(1200)).toBe(2000);
});

test("lets old news extend the pause, and nothing shorten it", () => {
  const gate = new Gate();
  gate.close(throttled({ nowMs: 100, retryAfterMs: 5000, random: 0 }));
  gate.close(throttled({ nowMs: 200, retryAfterMs: 8000 }));
  expect(gate.delayMs(200)).toBe(8000);
  gate.close(throttled({ nowMs: 300, retryAfterMs: 1000 }));
  expect(gate.delayMs(300)).toBe(7900);
  gate.close(throttled({ passedAtMs: 300, nowMs: 400, retryAfterMs: 1000 }));
  expect(gate.delayMs(400)).toBe(7800);
});

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

/** A detector after so many successes. */
function after(successes: number): LimitDetector {
  const detector = new LimitDetector();
  for (let success = 0; success < successes; success += 1) detector.succeeded();
  return detector;
}

test("takes the first answer of all for a limit when it is throttled", () => {
  expect(after(0).throttled(false)).toBe(true);
});

test.each([20, 1000])("takes one throttled answer after %d successes for a stray", (successes) => {
  expect(after(successes).throttled(false)).toBe(false);
});

test("takes three throttled answers together for a limit", () => {
  const detector = after(100);
  const shown = [0, 1, 2].map(() => detector.throttled(false));
  expect(shown).toEqual([false, false, true]);
});

test("sees a limit that throttles every third answer", () => {
  const detector = after(100);
  let answers = 0;
  for (let isLimit = false; !isLimit; answers += 3) {
    detector.succeeded();
    detector.succeeded();
    isLimit = detector.throttled(false);
  }
  expect(answers).toBeLessThan(30);
});

test("takes a throttled answer right after a pause for a limit, and not one later on", () => {
  const detector = after(100);
  detector.reopened(false);
  detector.succeeded();
  expect(detector.throttled(false)).toBe(true);
  const later = after(100);
  later.reopened(false);
  for (let success = 0; success < 5; success += 1) later.succeeded();
  expect(later.throttled(false)).toBe(false);
});

test.each([
  { isNoisy: false, most: 10 },
  { isNoisy: true, most: 2 },
])("mistakes 5 % of strays for a limit at most $most times", ({ isNoisy, most }) => {
  const random = seededRandom(3);
  const detector = after(20);
  let mistakes = 0;
  for (let answer = 0; answer < 20_000; answer += 1) {
    if (random() >= 0.05) detector.succeeded();
    else if (detector.throttled(isNoisy)) {
      mistakes += 1;
      detector.reopened(true);
    }
  }
  expect(mistakes).toBeLessThanOrEqual(most);
});
