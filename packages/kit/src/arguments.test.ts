import { expect, test } from "vitest";
import {
  parseWords,
  readDecimal,
  readPositionals,
  readWholeNumber,
  readWord,
  readWordList,
} from "./arguments.ts";
import { UsageError } from "./errors.ts";

const options = {
  limit: { type: "string" },
  yes: { type: "boolean", short: "y", default: false },
  fault: { type: "string", multiple: true },
} as const;

test("options and words may come in any order, a value after a space or an equals sign", () => {
  const words = ["one", "--limit", "3", "-y", "--fault=a", "--fault", "b", "--", "--two"];
  const { values, positionals } = parseWords(words, options);
  expect(values).toEqual({ limit: "3", yes: true, fault: ["a", "b"] });
  expect(positionals).toEqual(["one", "--two"]);
});

test.each([
  [["--limt", "3"], "Unknown option '--limt'; did you mean --limit?"],
  [["--colour"], "Unknown option '--colour'; there are --limit, --yes, --fault."],
  [["-x"], "Unknown option '-x'; there are --limit, --yes, --fault."],
  [["--\u001b[31mno"], "Unknown option '--no'; there are --limit, --yes, --fault."],
  [["--limit"], "--limit needs a value: --limit=VALUE."],
  [["--limit", "--yes"], "--limit needs a value: --limit=VALUE."],
  [["--yes=no"], "--yes takes no value."],
  [["--toString"], "Unknown option '--toString'; there are --limit, --yes, --fault."],
])("%j is told: %s", (words, message) => {
  expect(() => parseWords(words, options)).toThrow(new UsageError(message));
});

test("a value that begins with a dash goes after an equals sign", () => {
  expect(parseWords(["--limit=-3"], options).values.limit).toBe("-3");
});

test("where no option is taken, that is said", () => {
  expect(() => parseWords(["--x"], {})).toThrow("Unknown option '--x'; no options are taken here.");
});

test.each([
  [["a"], ["ID", "FILE"], 1],
  [["a", "b"], ["ID", "FILE"], 1],
  [[], [], 0],
])("the words %j are what %j says, %i optional", (words, names, optional) => {
  expect(readPositionals(words, names, { optional })).toEqual(words);
});

test.each([
  [[], ["ID", "FILE"], 1, "ID is missing."],
  [["a"], ["SOURCE", "OUT.json"], 0, "OUT.json is missing."],
  [["a", "b", "c"], ["ID", "FILE"], 1, '"c" is too much; give ID and FILE.'],
  [["a"], [], 0, '"a" is too much; give no word beside the options.'],
])("the words %j for %j, %i optional: %s", (words, names, optional, message) => {
  expect(() => readPositionals(words, names, { optional })).toThrow(new UsageError(message));
});

test("a whole number is between its bounds", () => {
  const port = (text: string) => readWholeNumber("--port", text, { max: 65_535 });
  expect(["0", "65535"].map(port)).toEqual([0, 65_535]);
  for (const text of ["65536", "-1", "1.5", "1e3", "", "12345678901234567"]) {
    const message = "--port takes a whole number from 0 to 65535, such as --port 1.";
    expect(() => port(text)).toThrow(new UsageError(message));
  }
});

test("a decimal is between its bounds", () => {
  const usd = (text: string) => readDecimal("--max-cost", text, { what: "US dollars" });
  expect(["2.50", "0"].map(usd)).toEqual([2.5, 0]);
  for (const text of ["-1", "1e3", "Infinity", ".5", ""]) {
    const message = "--max-cost takes US dollars from 0 up, such as --max-cost 0.5.";
    expect(() => usd(text)).toThrow(new UsageError(message));
  }
});

test("one of a few words, or an error that names them", () => {
  expect(readWord("--format", "csv", ["json", "csv"])).toBe("csv");
  const message = '--format takes one of json, csv, not "x ml".';
  expect(() => readWord("--format", "x\nml", ["json", "csv"])).toThrow(message);
});

test("some of a few words come in their own order", () => {
  expect(readWordList("--only", "c, a", ["a", "b", "c"])).toEqual(["a", "c"]);
  expect(() => readWordList("--only", "a,d", ["a", "b"])).toThrow('not "d"');
});
