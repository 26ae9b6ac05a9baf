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
    { line: 4, value: { id: "b", truth: "", weight: "" } },
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
  ["semicolons", "id;truth\na;1,5\n", "1,5"],
  ["tabs", "\uFEFFid\ttruth\na\t1;5\n", "1;5"],
  ["line ends of an old Mac", "\rid,truth\r\ra,1\r", "1"],
  ["a quote that opens later, which is text", 'id,truth\na,5" disk', '5" disk'],
  ["an empty cell in quotes at the end", 'id,truth\n"a",""', ""],
  ["quotes alone", 'id,truth\na,""""\n', '"'],
])("a table with %s is read", (_, text, truth) => {
  for (const size of [1, 1000]) {
    const [row, ...more] = split(text, { csv: true, size });
    expect([row?.value, more]).toEqual([{ id: "a", truth }, []]);
  }
});

test("the names of columns are ordinary data", () => {
  const [row] = split("id,__proto__,constructor\na,x,y\n", { csv: true });
  expect(Object.entries(row?.value as object)).toContainEqual(["__proto__", "x"]);
});

const table = (header: string, row = "") => `${header}\n${row}\n`;

test.each([
  [table("id,truth", "a,1\nb"), "f line 3: has 1 cells, and the header 2; a cell"],
  [table("id,truth", 'a,1\r\n"b\r\nc",\n"d,1'), "f line 5: a quote opens here and never closes"],
  [
    table("id,truth", '"a\nb"c,1'),
    "f line 3: text follows the quote that closes the cell of line 2",
  ],
  [table("id,,truth"), "f line 1: column 2 has no name"],
  [table("\nid,truth,id "), 'f line 2: two columns are named "id"'],
  [table("id,truth", "a,\0"), "f line 2: has a NUL character"],
  [table("id,truth", '"a\0"'), "f line 2: has a NUL character"],
])("a table %j is refused with its line", (text, message) => {
  for (const size of [1, 1000]) expect(() => split(text, { csv: true, size })).toThrow(message);
});

test("a row of a million columns is refused in a short sentence", () => {
  const names = Array.from({ length: 1_000_000 }, (_, i) => `c${i}`).join(",");
  const read = () => split(table(names, "a,b"), { csv: true, size: 65_536 });
  expect(read).toThrow(/^f line 2: has 2 cells, and the header 1000000; .{0,100}$/);
});

test("a line that comes in a million pieces takes linear time", () => {
  const splitter = recordSplitter("f");
  splitter.push('{"id":"');
  for (let i = 0; i < 1_000_000; i += 1) splitter.push("abcdefgh");
  splitter.push('"}\n');
  expect(splitter.end()).toHaveLength(0);
});
