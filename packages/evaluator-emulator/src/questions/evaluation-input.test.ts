import { expect, test } from "vitest";
import { estimateInputTokens, isOverTokenLimits } from "./evaluation-input.ts";

function inputOf(stateCharacters: number, ...questionCharacters: number[]) {
  const questions = questionCharacters.map((length, index) => [
    `q${index}`,
    { type: "boolean", instructions: "x".repeat(length), criteria: { true: null, false: null } },
  ]);
  return { state: "x".repeat(stateCharacters), questions: Object.fromEntries(questions) };
}

test("a longer state is more tokens, and a question id is none", () => {
  expect(estimateInputTokens(inputOf(400, 4))).toBe(estimateInputTokens(inputOf(0, 4)) + 100);
  const { q0 } = inputOf(0, 4).questions;
  expect(estimateInputTokens({ state: "", questions: { ["long".repeat(99)]: q0 } })).toBe(
    estimateInputTokens(inputOf(0, 4)),
  );
});

test("a state with its longest question holds 32k tokens, the whole request 64k", () => {
  expect(isOverTokenLimits(inputOf(127_000, 100))).toBe(false);
  expect(isOverTokenLimits(inputOf(129_000, 100))).toBe(true);
  expect(isOverTokenLimits(inputOf(64_000, 63_000, 63_000))).toBe(false);
  expect(isOverTokenLimits(inputOf(64_000, 63_000, 63_000, 63_000, 63_000))).toBe(true);
});
