import { expect, test } from "vitest";
import { frozenCopy } from "./json.ts";

test("copies and freezes all the way down", () => {
  const data = { list: ["a", { deep: "b" }], text: "c", nothing: undefined };
  const copy = frozenCopy(data);
  expect(copy).toEqual(data);
  expect(copy).not.toBe(data);
  expect(Object.isFrozen(data)).toBe(false);
  expect([copy, copy.list, copy.list[1]].every((part) => Object.isFrozen(part))).toBe(true);
});

test("gives back what cannot change", () => {
  const frozen = Object.freeze({ list: Object.freeze(["a"]) });
  expect(frozenCopy(frozen)).toBe(frozen);
  expect(frozenCopy("text")).toBe("text");
});

test("copies what can change below something frozen", () => {
  const shallow = Object.freeze({ list: ["a"] });
  const copy = frozenCopy(shallow);
  shallow.list.push("b");
  expect(copy).toEqual({ list: ["a"] });
});

test("keeps a key named __proto__", () => {
  const copy = frozenCopy(JSON.parse('{"__proto__":{"a":"A"}}'));
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"a":"A"}}');
});
