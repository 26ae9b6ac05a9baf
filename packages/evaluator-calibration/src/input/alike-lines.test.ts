import * as fc from "fast-check";
import { expect, test } from "vitest";
import { recordSplitter } from "./split-records.ts";

/** Reads lines one by one, so that each is read by what the lines before it taught. */
function readLines(lines: readonly string[]) {
  const splitter = recordSplitter("f");
  return lines.map((line) => readOr(() => splitter.push(`${line}\n`).map(({ value }) => value)));
}

function parseLines(lines: readonly string[]) {
  return lines.map((line) => readOr(() => (line.trim() === "" ? [] : [JSON.parse(line)])));
}

function readOr(read: () => unknown[]): unknown[] | string {
  try {
    return read();
  } catch {
    return "refused";
  }
}

/** The same with -0 told from 0, and the order of keys. */
function written(values: readonly (unknown[] | string)[]): string[] {
  return values.map((value) => JSON.stringify(value, (_, inner: unknown) => toWritten(inner)));
}

function toWritten(value: unknown): unknown {
  return typeof value === "number" ? `${Object.is(value, -0) ? "-" : ""}${value}` : value;
}

const answer =
  '{"id":"m-1","modelId":"m","answers":{"scam":{"type":"boolean","probability":0.25}}}';

test.each([
  ["0.5"],
  ["0"],
  ["-0"],
  ["-0.0"],
  ["1.0000000000000002"],
  ["0.1234567890123456789"],
  ["123456789012345678901234567890"],
  ["5e-324"],
  ["1E+2"],
  ["1e400"],
  ["true"],
  ["null"],
  ['"0.5"'],
  ['"é 😀 \\u00e9 \\"\\\\ \\n"'],
  [`"${"a longer text than is copied ".repeat(3)}"`],
  ["[1,[],{}]"],
  ["01"],
  ["-"],
  [".5"],
  ["1."],
  ["1.e3"],
  ["1..2"],
  ["1-2"],
  ["+1"],
  ["1e"],
  ["NaN"],
  ["nul"],
  ["truest"],
  ['"'],
  ['"\\x"'],
  ['"\\'],
  ['"\t"'],
  [""],
])("a line that differs from those before by %s is read as JSON reads it", (token) => {
  const lines = [answer, answer.replace("0.25", "0.75"), answer.replace("0.25", token), answer];
  expect(written(readLines(lines))).toEqual(written(parseLines(lines)));
});

test.each([
  ['{"__proto__":{"a":1},"id":1}', '{"__proto__":{"a":2},"id":2}'],
  ['{"a":1,"a":2,"0":3}', '{"a":4,"a":5,"0":6}'],
  ['{"":[],"b":{}}', '{"":[],"b":{} }'],
  ['{"a":1}\r', '{"a":2}\r', '{"a":3}'],
  ["1", "2", '"three"', "[]"],
  ['{"a":"x"}', '{"a":"y"} {}', '{"a":"z"},', '{"a":"z"'],
  ['{"a":1}', "", "  ", '{"a":2}'],
])("lines such as %s and %s are read as JSON reads them", (...lines) => {
  expect(written(readLines([...lines, ...lines]))).toEqual(
    written(parseLines([...lines, ...lines])),
  );
});

// Not `unit: "binary"`, which takes two seconds to make ready.
const anyCharacter = fc
  .nat(0x10ffff)
  .filter((point) => point < 0xd800 || point > 0xdfff)
  .map((point) => String.fromCodePoint(point));
const value = fc.oneof(
  { withCrossShrink: true },
  fc.string({ unit: anyCharacter }),
  fc.double({ noNaN: true }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const record = fc.oneof(
  fc.record({ id: value, question: fc.constantFrom("scam", "spam"), probability: value }),
  fc.record({ id: value, probabilities: fc.array(value, { maxLength: 3 }) }, { requiredKeys: [] }),
  fc.dictionary(fc.string(), value, { maxKeys: 4 }),
);

test("lines of any shapes in any order are read as JSON reads them, broken ones too", () => {
  const line = fc.tuple(record, fc.nat(2), fc.nat(), fc.constantFrom('"', "\\", "}", "0", " ", ""));
  fc.assert(
    fc.property(fc.array(line, { minLength: 2, maxLength: 30 }), (found) => {
      const lines = found.map(([json, spaces, at, character], index) => {
        const whole = JSON.stringify(json, null, spaces).replaceAll("\n", " ");
        if (index % 3 !== 2) return whole;
        const cut = at % whole.length;
        return whole.slice(0, cut) + character + whole.slice(cut + 1);
      });
      expect(written(readLines(lines))).toEqual(written(parseLines(lines)));
    }),
  );
});

test("lines of which no two are alike take linear time", () => {
  const keys = Array.from({ length: 100_000 }, (_, index) => `{"key ${index}":[${index}]}\n`);
  expect(recordSplitter("f").push(keys.join(""))).toHaveLength(keys.length);
});
