import { expect, test } from "vitest";
import { halfOf } from "./half-of.ts";

test.each([
  ["abcdef", "abc"],
  ["abcde", "ab"],
  [["one ", "two ", "three ", "four"], "one two "],
  ["", ""],
])("half of %j is %j", (body, half) => {
  expect(halfOf(body).toString()).toBe(half);
});
