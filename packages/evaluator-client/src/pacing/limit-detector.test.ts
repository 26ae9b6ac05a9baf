import { expect, test } from "vitest";
import { seededRandom } from "../testing/limited-service.ts";
import { LimitDetector } from "./limit-detector.ts";

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
