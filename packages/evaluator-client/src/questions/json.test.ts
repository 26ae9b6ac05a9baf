import { expect, test } from "vitest";
import { listAt, textAt, valueAt, frozenCopy } from "./json.ts";

const json = { a: { text: "t", list: [1], number: 0 }, nothing: null };

test.each<[string[], unknown]>([
  [[], json],
  [["a", "number"], 0],
  [["a", "missing"], undefined],
  [["nothing", "a"], undefined],
  [["a", "list", "0"], undefined],
  [["a", "text", "length"], undefined],
])("finds at %j %o", (path, value) => {
  expect(valueAt(json, ...path)).toBe(value);
});

test("gives text and lists only where they are", () => {
  expect(textAt(json, "a", "text")).toBe("t");
  expect(textAt(json, "a", "number")).toBeNull();
  expect(listAt(json, "a", "list")).toEqual([1]);
  expect(listAt(json, "a", "text")).toEqual([]);
});

test("copies and freezes all the way down", () => {
  const data = { list: ["a", { deep: "b" }], text: "c", nothing: undefined };
  const copy = frozenCopy(data);
  expect(copy).toEqual(data);
  expect(copy).not.toBe(data);
  expect(Object.isFrozen(data)).toBe(false);
  expect([copy, copy.list, copy.list[1]].every((part) => Object.isFrozen(part))).toBe(true);
});

test("returns frozen data itself", () => {
  const frozen = Object.freeze({ list: Object.freeze(["a"]) });
  expect(frozenCopy(frozen)).toBe(frozen);
  expect(frozenCopy("text")).toBe("text");
});

test("copies frozen data with parts that are not frozen", () => {
  const shallow = Object.freeze({ list: ["a"] });
  const copy = frozenCopy(shallow);
  shallow.list.push("b");
  expect(copy).toEqual({ list: ["a"] });
});

test("keeps a key named __proto__", () => {
  const copy = frozenCopy(JSON.parse('{"__proto__":{"a":"A"}}'));
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"a":"A"}}');
});
