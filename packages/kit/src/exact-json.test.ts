import { expect, test } from "vitest";
import { parseExactJson } from "./exact-json.ts";

test.each([
  ['{"a":[1,{"b":9007199254740993}]}', [["a", 1, "b"]]],
  ['{"a":-9007199254740993,"b":9007199254740995}', [["a"], ["b"]]],
  ["12345678901234567890", [[]]],
  ["[12345678901234567.89]", [[0]]],
  ["[9007199254740993.0]", [[0]]],
  ["[900719925474099.3e1]", [[0]]],
  ['{"a":1e400}', [["a"]]],
])("%s has a number that would be rounded at %j", (text, place) => {
  expect(parseExactJson(text).inexact).toEqual(place);
});

test.each([
  '{"a":9007199254740991}',
  "9007199254740994",
  "[1e22, 1.50e300, 100000000000000000000000, 1E+21]",
  "[0.33333333333333333333, 4.5000000000000000, 0.000000000000000000001]",
  '{"a":"9007199254740993 and 1e400"}',
  "[true, null, -0]",
  `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`,
  `${'{"a":'.repeat(20_000)}9007199254740993${"}".repeat(20_000)}`,
])("%.40s keeps its numbers, or is too deep for any reader", (text) => {
  const { value, inexact } = parseExactJson(text);
  expect(inexact).toEqual([]);
  expect(typeof value).toBe(typeof JSON.parse(text));
});

test("text that is not JSON fails as with JSON.parse", () => {
  expect(() => parseExactJson("{9007199254740993")).toThrow(SyntaxError);
});
