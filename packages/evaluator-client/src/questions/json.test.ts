import { expect, test } from "vitest";
import { listAt, textAt, valueAt } from "./json.ts";

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
