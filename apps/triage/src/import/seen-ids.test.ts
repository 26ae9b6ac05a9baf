import { expect, test } from "vitest";
import { SeenIds } from "./import-mails.ts";

test("an id that comes again gets a number, one that looks numbered too", () => {
  using ids = new SeenIds();
  const come = ["a", "b", "a", "a#2", "a", "a#2", ""];
  expect(come.map((id) => ids.unique(id))).toEqual(["a", "b", "a#2", "a#2#2", "a#3", "a#2#3", ""]);
});

test("its file is closed when it is disposed of", () => {
  const ids = new SeenIds();
  ids[Symbol.dispose]();
  expect(() => ids.unique("a")).toThrow(/finalized|not open/);
});
