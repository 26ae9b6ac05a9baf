import { expect, test } from "vitest";
import { rotate } from "./rotate.ts";

test("begins with another item in each round and leaves none out", () => {
  const rounds = [0, 1, 2, 3].map((round) => rotate(["a", "b", "c"], round).join(""));
  expect(rounds).toEqual(["abc", "bca", "cab", "abc"]);
  expect(rotate([], 4)).toEqual([]);
});
