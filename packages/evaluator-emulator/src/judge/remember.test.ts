import { expect, test } from "vitest";
import { remember } from "./remember.ts";

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
