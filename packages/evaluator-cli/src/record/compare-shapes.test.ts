import { expect, test } from "vitest";
import { compareShapes } from "./compare-answer.ts";

function differences(samples: readonly unknown[], actual: unknown): string[] {
  return compareShapes(samples, actual, ["$"]).map(
    ({ kind, path, detail }) => `${kind} ${path} (${detail})`,
  );
}

test.each([
  ["the same values", { a: 1, b: [null] }, { a: 1, b: [null] }, []],
  ["other values, another order", { a: 1, b: "x" }, { b: "y", a: 2.5 }, []],
  ["a missing field", { a: { b: 1 } }, { a: {} }, ["missing $.a.b (number)"]],
  ["a new field", { a: {} }, { a: { b: [] } }, ["new $.a.b (array)"]],
  ["a number that became a string", { a: 1 }, { a: "1" }, ["type $.a (number became string)"]],
  ["an object that became null", { a: {} }, { a: null }, ["type $.a (object became null)"]],
  ["an object that became an array", { a: {} }, { a: [] }, ["type $.a (object became array)"]],
  ["more items of the same shape", [{ a: 1 }], [{ a: 2 }, { a: 3 }], []],
  ["no items where there were some", [{ a: 1 }], [], []],
  ["items where there were none", [], ["x"], ["new $[] (string)"]],
  ["an item like some of the items", [{ a: 1, b: 1 }, { a: 1 }, "x"], [{ a: 2 }, "y"], []],
  [
    "an item without what all had",
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ b: 1 }],
    ["missing $[].a (number)"],
  ],
  ["an item of another type", [1, "x"], [null], ["type $[] (number or string became null)"]],
  ["items of items", [[1], [{ a: 1 }]], [[{ a: "x" }]], ["type $[][].a (number became string)"]],
  ["an inherited name", {}, JSON.parse('{"__proto__":1}'), ["new $.__proto__ (number)"]],
  ["an inherited name gone", JSON.parse('{"toString":1}'), {}, ["missing $.toString (number)"]],
])("%s", (_name, sample, actual, expected) => {
  expect(differences([sample], actual)).toEqual(expected);
});

test("a value may be like any sample, and lacks only what all samples have", () => {
  const samples = [{ a: "1", b: 1 }, { a: 1 }];
  expect(differences(samples, { a: 2 })).toEqual([]);
  expect(differences(samples, { a: "2", b: 2 })).toEqual([]);
  expect(differences(samples, { b: "2" })).toEqual([
    "missing $.a (string or number)",
    "type $.b (number became string)",
  ]);
});
