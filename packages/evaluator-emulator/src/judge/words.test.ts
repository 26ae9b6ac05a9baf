import { expect, test } from "vitest";
import { profileText } from "./evidence.ts";
import { textWords } from "./words.ts";

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
  ["short task with a clear answer, no deep reasoning", ["short", "task", "clear", "answer"]],
  ["ignore: no action and no information needed", ["ignor"]],
  ["none of the above", []],
])("the words that %j does not deny", (text, kept) => {
  expect([...profileText(text, "criterion").words]).toEqual(kept);
});
