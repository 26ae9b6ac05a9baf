import { expect, test } from "vitest";
import { applyPolicy } from "./decide.ts";

const clear = { nano: 0.7, fast: 0.2, balanced: 0.1, frontier: 0 };
const even = { nano: 0.4, fast: 0.1, balanced: 0.4, frontier: 0.1 };

const rows = [
  ["nano", 0.4, null, "nano", "choice"],
  ["nano", 0.4, 0.4, "nano", "choice"],
  ["nano", 0.39, 0.4, "fast", "low-confidence"],
  ["balanced", 0, 0.5, "frontier", "low-confidence"],
  ["frontier", 0, 0.5, "frontier", "choice"],
] as const;

test.each(rows)("%s at confidence %s with a minimum of %s uses %s: %s", (...row) => {
  const [chosen, confidence, minConfidence, tierUsed, cause] = row;
  const answer = { probabilities: clear, confidence };
  expect(applyPolicy(chosen, answer, { minConfidence })).toEqual({ tierUsed, cause });
});

test("a tie keeps the choice", () => {
  const answer = { probabilities: even, confidence: 0 };
  expect(applyPolicy("balanced", answer, { minConfidence: null })).toEqual({
    tierUsed: "balanced",
    cause: "choice",
  });
});

test.each([
  ["nano", "nano", "choice"],
  ["fast", "fast", "low-confidence"],
  [null, "fast", "low-confidence"],
] as const)("a promised act %s leaves a doubtful nano at %s: %s", (act, tierUsed, cause) => {
  const answer = { probabilities: even, confidence: null, promise: { act } };
  expect(applyPolicy("nano", answer, { minConfidence: 0.9 })).toEqual({ tierUsed, cause });
});
