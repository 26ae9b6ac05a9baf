import { expect, test } from "vitest";
import { emailRequest } from "../testing/email-evaluation.ts";
import { estimateTokens, isSurelyTooLong } from "./request.ts";

test("estimates a quarter of the JSON's characters", () => {
  const characters = JSON.stringify(emailRequest).length;
  expect(estimateTokens(emailRequest)).toBeGreaterThan(characters / 4 - 10);
  expect(estimateTokens(emailRequest)).toBeLessThan(characters / 4 + 10);
});

test.each<[string, unknown, boolean]>([
  ["more words than tokens", "word ".repeat(33_000), true],
  ["as many words as tokens", "word ".repeat(32_000), false],
  ["words in an object", { mail: { parts: ["one two ".repeat(17_000)] } }, true],
  ["one endless word", "x".repeat(257_000), true],
  ["a long word that may be few tokens", "x".repeat(250_000), false],
  ["a short text", "Your invoice", false],
])("knows whether a state is surely too long: %s", (_, state, isTooLong) => {
  expect(isSurelyTooLong(state)).toBe(isTooLong);
});
