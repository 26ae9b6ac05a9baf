import { expect, test } from "vitest";
import { jsonErrorPlace, placeAt } from "./json-error.ts";

const errorOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    return error;
  }
};
const long = '"a long text before the token"';

test.each([
  ['{"a": nope}', "ope}"],
  ['{"a":tru}', "}"],
  ["{a:1}", "a:1}"],
  ['{"a": 1,}', "}"],
  ['{"a": 1}}', "}"],
  ['{"a": 1', ""],
  ['{"a": "b', ""],
  ["[1, 2, ?, 3, ?]", "?, 3, ?]"],
  [`[${long}, ?, ${long}]`, `?, ${long}]`],
  [`[${long}, ?, ${long}, ?, ${long}, ?]`, `?, ${long}, ?, ${long}, ?]`],
  [`[${long}, ?]`, "?]"],
  ["", ""],
])("the syntax error of %j is before %j", (text, rest) => {
  const column = text.length - rest.length + 1;
  expect(jsonErrorPlace(text, errorOf(text))).toEqual({ line: 1, column });
  expect(jsonErrorPlace(`\n\n${text}`, errorOf(`\n\n${text}`))).toEqual({ line: 3, column });
});

test("an offset is at a line and a column", () => {
  expect(placeAt("a\nbc", 3)).toEqual({ line: 2, column: 2 });
  expect(placeAt("", 0)).toEqual({ line: 1, column: 1 });
});
