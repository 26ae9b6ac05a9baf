import { expect, test } from "vitest";
import { cutText } from "./state.ts";

test.each([
  ["short", 10, "short"],
  ["exactly", 7, "exactly"],
  ["too long", 3, "too"],
  ["", 0, ""],
  ["anything", 0, ""],
  ["a🙂b", 2, "a"],
  ["a🙂b", 3, "a🙂"],
  ["e\u0301e\u0301", 3, "e\u0301"],
  ["👨‍👩‍👧 family", 5, ""],
  ["👨‍👩‍👧 family", 8, "👨‍👩‍👧"],
  ["🇫🇷🇩🇪", 6, "🇫🇷"],
  ["a\r\nb", 2, "a"],
])("cuts %j to %d: %j", (text, maxCharacters, expected) => {
  expect(cutText(text, maxCharacters)).toBe(expected);
});

test("cuts into a pile of combining marks that is longer than any character", () => {
  const pile = `a${"\u0301".repeat(200)}`;
  expect(cutText(pile, 100)).toBe(pile.slice(0, 100));
  const pairs = `a${"\u{1D165}".repeat(200)}`;
  expect(cutText(pairs, 100)).toBe(pairs.slice(0, 99));
  expect(cutText(pairs, 101)).toBe(pairs.slice(0, 101));
});
