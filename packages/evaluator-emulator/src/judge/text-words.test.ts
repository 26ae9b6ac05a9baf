import { expect, test } from "vitest";
import { dropNegated } from "./drop-negated.ts";
import { textWords } from "./text-words.ts";

test.each([
  ["Planning the PLANS", ["plan", "the", "plan"]],
  ["Zürich café", ["zurich", "cafe"]],
  ["50% off, $12?", ["50", "%", "off", "$", "12", "?"]],
  ["", []],
  ["日本語 🙂", ["日本語"]],
])("the words of %j", (text, words) => {
  expect(textWords(text)).toEqual(words);
});

test.each([
  ["short task with a clear answer, no deep reasoning", "short task with a clear answer,  "],
  ["ignore: no action and no information needed", "ignore,  "],
  ["none of the above", ""],
])("what %j does not deny", (text, kept) => {
  expect(dropNegated(text)).toBe(kept);
});
