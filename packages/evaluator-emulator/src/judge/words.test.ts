import { expect, test } from "vitest";
import { profileText } from "./evidence.ts";
import { remember, textWords } from "./words.ts";

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

test("computes once for each text and forgets the oldest beyond its capacity", () => {
  const computed: string[] = [];
  const shout = remember(
    (text: string) => {
      computed.push(text);
      return text.toUpperCase();
    },
    { keyOf: (text) => text, capacity: 2 },
  );
  expect(["a", "b", "a", "c", "a"].map(shout)).toEqual(["A", "B", "A", "C", "A"]);
  expect(computed).toEqual(["a", "b", "c", "a"]);
});
