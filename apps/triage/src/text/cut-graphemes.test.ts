import { expect, test } from "vitest";
import { cutGraphemes } from "./cut-graphemes.ts";

test.each([
  ["", 3, ""],
  ["abc", 3, "abc"],
  ["abcd", 3, "abc"],
  ["a🙂🙂b", 2, "a🙂"],
  ["👨‍👩‍👧👨‍👩‍👧", 1, "👨‍👩‍👧"],
  ["e\u0301e\u0301", 1, "e\u0301"],
  ["🇩🇪🇫🇷", 1, "🇩🇪"],
])("%j cut to %d is %j", (text, limit, cut) => {
  expect(cutGraphemes(text, limit)).toBe(cut);
});
