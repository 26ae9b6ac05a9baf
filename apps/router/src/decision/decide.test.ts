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
  const policy = { minConfidence, ties: "choice" } as const;
  expect(applyPolicy(chosen, answer, policy)).toEqual({ tierUsed, cause });
});

const doubts = [
  ["nano", even, 0.3, "up", "fast", "tie"],
  ["balanced", even, null, "up", "frontier", "tie"],
  ["nano", even, 0.3, "choice", "nano", "choice"],
  ["nano", clear, 0.05, "up", "fast", "tie"],
  ["nano", clear, 0.06, "up", "nano", "choice"],
  ["frontier", { ...clear, frontier: 0.7 }, 0, "up", "frontier", "choice"],
] as const;

test.each(doubts)("%s among %j at confidence %s with ties=%s uses %s: %s", (...row) => {
  const [chosen, probabilities, confidence, ties, tierUsed, cause] = row;
  const policy = { minConfidence: null, ties };
  expect(applyPolicy(chosen, { probabilities, confidence }, policy)).toEqual({ tierUsed, cause });
});

test.each([
  ["nano", "nano", "choice"],
  ["fast", "fast", "low-confidence"],
  [null, "fast", "low-confidence"],
] as const)("a promised act %s leaves a doubtful nano at %s: %s", (act, tierUsed, cause) => {
  const answer = { probabilities: even, confidence: null, promise: { act } };
  const policy = { minConfidence: 0.9, ties: "up" } as const;
  expect(applyPolicy("nano", answer, policy)).toEqual({ tierUsed, cause });
});
