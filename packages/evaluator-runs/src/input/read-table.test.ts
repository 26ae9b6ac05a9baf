import { expect, test } from "vitest";
import { readTable } from "./read-table.ts";

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function split(text: string | Buffer, size = 7) {
  const records = [];
  for await (const some of readTable(inPieces(Buffer.from(text), size))) records.push(...some);
  return records;
}

const items = [
  { line: 2, value: { id: "a", truth: 'x,"]\n[{' } },
  { line: 3, value: { id: "b", truth: [1, { c: 2 }] } },
];

test.each([1, 3, 1000])(
  "lines, arrays and tables are split the same in pieces of %i",
  async (size) => {
    const [a, b] = items.map(({ value }) => JSON.stringify(value));
    expect(await split(`\n${a}\n${b}\n`, size)).toEqual(items);
    expect(await split(`\uFEFF\n${a}\r\n${b}`, size)).toEqual(items);
    expect(await split(`[\n${a},\n${b}]\n`, size)).toEqual(items);
    const table = 'id,truth,weight\r\na,"x,""y""\nz",2\r\nb,,\r\n';
    expect(await split(table, size)).toEqual([
      { line: 2, value: { id: "a", truth: 'x,"y"\nz', weight: "2" } },
      { line: 4, value: { id: "b", truth: "", weight: "" } },
    ]);
    expect(
      await split(`\uFEFFsep=;\r\n${table.replaceAll(",", ";").replace("x;", "x,")}`, size),
    ).toEqual([
      { line: 3, value: { id: "a", truth: 'x,"y"\nz', weight: "2" } },
      { line: 5, value: { id: "b", truth: "", weight: "" } },
    ]);
    expect(await split("sep=,note\na,b\n", size)).toEqual([
      { line: 2, value: { "sep=": "a", note: "b" } },
    ]);
    expect(await split("[ ]", size)).toEqual([]);
    expect(await split("", size)).toEqual([]);
  },
);

const deep = `{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;

test.each([
  ['{"id":1}\n{"id":', { line: 2, problem: "is not JSON; check line 2 column 7" }],
  ['{"id":1}\n{"id":none}', { line: 2, problem: "is not JSON; check line 2 column 8" }],
  [deep, { line: 1, problem: "is nested deeper than 500 levels; flatten its JSON" }],
  ['{"id":1},{"id":2}\n\n', { line: 1, problem: "is not JSON; check line 1 column 9" }],
  ['[{"id":1},\n{id:2}]', { line: 2, problem: "is not JSON; check line 2 column 2" }],
])("a record of %.30j is refused with its line, and not quoted", async (text, problem) => {
  for (const size of [1, 1000]) expect(await split(text, size)).toContainEqual(problem);
});

test.each([
  ['[{"id":1},\n{"id":2}', "the list of records has no end"],
  ['[{"id":1}]\n[]', "not JSON around the list of records"],
])("%j is refused, and not quoted", async (text, message) => {
  await expect(split(text)).rejects.toThrow(message);
});

const latin1 = Buffer.from('{"id":"\u00e9"}', "latin1");

test.each([1, 1000])(
  "lines around one that is not UTF-8 are read, in pieces of %i",
  async (size) => {
    const whole = Buffer.from('\n{"id":"ü"}\n');
    const bytes = Buffer.concat([whole, latin1, whole, Buffer.from('\uFEFF{"id":"ö"}\n')]);
    expect(await split(bytes, size)).toEqual([
      { line: 2, value: { id: "ü" } },
      { line: 3, problem: "is not UTF-8 text; save the file as UTF-8" },
      { line: 4, value: { id: "ü" } },
      { line: 5, value: { id: "ö" } },
    ]);
  },
);

test.each([
  ["semicolons", "id;truth\na;1,5\n", "1,5"],
  ["tabs", "\uFEFFid\ttruth\na\t1;5\n", "1;5"],
  ["line ends of an old Mac", "\rid,truth\r\ra,1\r", "1"],
  ["a quote that opens later, which is text", 'id,truth\na,5" disk', '5" disk'],
  ["an empty cell in quotes at the end", 'id,truth\n"a",""', ""],
  ["quotes alone", 'id,truth\na,""""\n', '"'],
])("a table with %s is read", async (_, text, truth) => {
  for (const size of [1, 1000]) {
    expect(await split(text, size)).toMatchObject([{ value: { id: "a", truth } }]);
  }
});

test("the names of columns are ordinary data", async () => {
  const [row] = await split("id,__proto__,constructor\na,x,y\n");
  const value = row !== undefined && "value" in row ? row.value : null;
  expect(Object.entries(value as object)).toContainEqual(["__proto__", "x"]);
});

const table = (header: string, row = "") => `${header}\n${row}\n`;

test.each([
  [table("id,truth", "a,1\nb"), "line 3: has 1 cell, and the header 2; quote a cell"],
  [table("id,truth", 'a,1\r\n"b\r\nc",\n"d,1'), "line 5: a quote never closes"],
  [table("id,truth", '"a\nb"c,1'), "line 3: text follows the quote that closes the cell of line 2"],
  [table("id,,truth"), "line 1: column 2 has no name"],
  [table("\nid,truth,id "), 'line 2: two columns are named "id"'],
  [table("id,truth", "a,\0"), "line 2: has a NUL character"],
  [table("id,truth", '"a\0"'), "line 2: has a NUL character"],
])("a table %j is refused with its line", async (text, message) => {
  for (const size of [1, 1000]) await expect(split(text, size)).rejects.toThrow(message);
});

test("a row of a million columns is refused in a short sentence", async () => {
  const names = Array.from({ length: 1_000_000 }, (_, i) => `c${i}`).join(",");
  await expect(split(table(names, "a,b"), 65_536)).rejects.toThrow(
    /^line 2: has 2 cells, and the header 1000000; .{0,100}$/,
  );
});

test("a line that comes in a million pieces takes linear time", async () => {
  const text = "abcdefgh".repeat(1_000_000);
  expect(await split(`{"id":"${text}"}\n`, 8)).toEqual([{ line: 1, value: { id: text } }]);
});
