import { expect, test } from "vitest";
import { recordSplitter } from "./split-records.ts";

function split(text: string, { csv = false, size = 7 } = {}) {
  const splitter = recordSplitter("f", { csv });
  const records = [];
  for (let i = 0; i < text.length; i += size)
    records.push(...splitter.push(text.slice(i, i + size)));
  return [...records, ...splitter.end()];
}

const items = [
  { line: 2, value: { id: "a", truth: 'x,"]\n[{' } },
  { line: 3, value: { id: "b", truth: [1, { c: 2 }] } },
];

test.each([1, 3, 1000])("lines, arrays and tables are split the same in pieces of %i", (size) => {
  const [a, b] = items.map(({ value }) => JSON.stringify(value));
  expect(split(`\n${a}\n${b}\n`, { size })).toEqual(items);
  expect(split(`\uFEFF\n${a}\r\n${b}`, { size })).toEqual(items);
  expect(split(`[\n${a},\n${b}]\n`, { size })).toEqual(items);
  const table = 'id,truth,weight\r\na,"x,""y""\nz",2\r\nb,,\r\n';
  expect(split(table, { csv: true, size })).toEqual([
    { line: 2, value: { id: "a", truth: 'x,"y"\nz', weight: "2" } },
    { line: 4, value: { id: "b" } },
  ]);
  expect(split("id;truth\na;1\n", { csv: true, size })).toEqual([
    { line: 2, value: { id: "a", truth: "1" } },
  ]);
  expect(split("[ ]", { size })).toEqual([]);
  expect(split("", { size })).toEqual([]);
});

test.each([
  ['{"id":1}\n{"id":', "f line 2: is not JSON"],
  ['{"id":1},{"id":2}\n\n', "f line 1: is not JSON"],
  ['[{"id":1},\n{"id":2}', "f line 2: the JSON array has no end"],
  ['[{"id":1},\n{id:2}]', "f line 2: is not JSON"],
  ['[{"id":1}]\n[]', "something follows the end"],
])("%j is refused with its line, and not quoted", (text, message) => {
  expect(() => split(text)).toThrow(message);
});

test.each([
  ["id,truth\na,1\nb\n", "f line 3: has 1 fields, and the header 2"],
  ['id,truth\n"a,1\n', "f line 2: a quoted field has no end"],
])("a table %j is refused with its line", (text, message) => {
  expect(() => split(text, { csv: true })).toThrow(message);
});

test("a line that comes in a million pieces takes linear time", () => {
  const splitter = recordSplitter("f");
  splitter.push('{"id":"');
  for (let i = 0; i < 1_000_000; i += 1) splitter.push("abcdefgh");
  splitter.push('"}\n');
  expect(splitter.end()).toHaveLength(0);
});
