import { expect, test } from "vitest";
import { canonicalJson } from "./json.ts";

test("the order of keys makes no difference, at any depth", () => {
  expect(canonicalJson({ b: [{ d: 1, c: null }], a: "x" })).toBe(
    canonicalJson({ a: "x", b: [{ c: null, d: 1 }] }),
  );
});

test("the order of a list does", () => {
  expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
});

test("a key named __proto__ is kept", () => {
  expect(canonicalJson(JSON.parse('{"__proto__":1}'))).toBe('{"__proto__":1}');
});
