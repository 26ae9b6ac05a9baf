import { UsageError } from "evaluator-kit";
import { expect, test } from "vitest";
import { readArguments as readWords } from "./arguments.ts";

const readArguments = (words: readonly string[]) =>
  readWords(words, ["attachments", "list_id", "authentication_results"]);

test("a file alone means all of it, through the service, without raw output", () => {
  expect(readArguments(["inbox.json"])).toEqual({
    name: "run",
    file: "inbox.json",
    limit: Number.POSITIVE_INFINITY,
    raw: false,
    skipInvalid: false,
    offline: false,
    concurrency: 1,
    dryRun: false,
    maxCostUsd: Number.POSITIVE_INFINITY,
    priceUsd: null,
    yes: false,
    state: { context: false, today: null, contacts: null, stateFields: [] },
    questions: null,
    calibration: null,
    format: "json",
    sort: null,
    top: Number.POSITIVE_INFINITY,
    since: null,
    only: null,
    journal: null,
    requestsPerMinute: null,
  });
});

test("run FILE is the same as FILE", () => {
  expect(readArguments(["run", "inbox.json", "--raw"])).toEqual(
    readArguments(["inbox.json", "--raw"]),
  );
});

test("query takes its file first or last", () => {
  const [query, file] = ["select 1", "inbox.json"];
  expect(readArguments(["query", file, query])).toEqual(readArguments(["query", query, file]));
  expect(readArguments(["query", file])).toMatchObject({ text: null, file });
});

test("query ends after a minute or a million rows unless it is told otherwise", () => {
  const limits = { timeoutSeconds: 60, rows: 1_000_000, allowSuperuser: false };
  expect(readArguments(["query", "select 1"])).toMatchObject(limits);
  const options = ["--timeout", "3600", "--rows", "1", "--allow-superuser"];
  const given = { timeoutSeconds: 3600, rows: 1, allowSuperuser: true };
  expect(readArguments(["query", "select 1", ...options])).toMatchObject(given);
  for (const option of ["--timeout=3601", "--timeout=0", "--rows=0"]) {
    expect(() => readArguments(["query", "select 1", option])).toThrow(/^--(timeout|rows)/);
  }
});

test.each([
  [["work"], { name: "work", run: null, wait: false, concurrency: 1, journal: null }],
  [["work", "--run", "3", "--journal", "postgres://h/d"], { run: 3, journal: "postgres://h/d" }],
  [["status", "--journal=a.triage.sqlite"], { name: "status", run: null }],
  [["export", "--run=2", "--format", "csv"], { name: "export", run: 2, format: "csv" }],
  [["report", "--run", "2"], { name: "report", file: null, run: 2 }],
  [["report", "--only", "new", "--rules", "r.txt"], { since: null, only: "new", rules: "r.txt" }],
  [["export", "--since", "2026-11-02"], { since: "2026-11-02", only: null, rules: null }],
  [["explain", "m-1", "--run", "2"], { name: "explain", id: "m-1", file: null, run: 2 }],
])("%j is read", (words, command) => {
  expect(readArguments(words)).toMatchObject(command);
});

test.each([
  [["status", "postgres://ada:secret@db.example.com/x"]],
  [["a.json", "--format", "postgres://ada:secret@db.example.com/x"]],
])("a database's URL in the wrong place is not quoted", (words) => {
  expect(() => readArguments(words)).toThrow(
    new UsageError("The URL of a database belongs after --journal, or into TRIAGE_JOURNAL."),
  );
});

test("flags are read before and after the file", () => {
  expect(readArguments(["--raw", "inbox.json", "--offline", "--limit", "3"])).toMatchObject({
    name: "run",
    file: "inbox.json",
    limit: 3,
    raw: true,
    offline: true,
  });
});

test.each([[["--limit"]], [["--limit", "-1"]], [["--limit", "--raw"]]])(
  "%j gives no value",
  (words) => {
    const problem = new UsageError("--limit needs a value: --limit=VALUE.");
    expect(() => readArguments(["a.json", ...words])).toThrow(problem);
  },
);

test.each([
  ["--concurrency=0", "--concurrency takes a whole number from 1 up, such as --concurrency 2."],
  ["--top=some", "--top takes a whole number from 1 up, such as --top 2."],
  ["--max-cost=$2", "--max-cost takes US dollars from 0 up, such as --max-cost 0.5."],
  ["--max-cost=-1", "--max-cost takes US dollars from 0 up, such as --max-cost 0.5."],
  ["--max-cost=NaN", "--max-cost takes US dollars from 0 up, such as --max-cost 0.5."],
])("%s says what it takes", (word, message) => {
  expect(() => readArguments(["a.json", word])).toThrow(new UsageError(message));
});

test.each([
  ["no file", [], "FILE is missing."],
  ["two files", ["a.json", "b.json"], '"b.json" is too much; give FILE.'],
  ["an unknown flag", ["a.json", "--limt"], "Unknown option '--limt'; did you mean --limit?"],
  [
    "a day that is none",
    ["a.json", "--since", "monday"],
    "--since takes a day, such as --since 2026-11-02.",
  ],
  ["a value after a switch", ["a.json", "--raw=yes"], "--raw takes no value."],
])("%s is a usage error that says so", (_, argv, message) => {
  expect(() => readArguments(argv)).toThrow(new UsageError(message));
});

test.each([
  ["--limit=0"],
  ["--limit=-1"],
  ["--limit=2.5"],
  ["--limit=1e3"],
  ["--limit=ten"],
  ["--limit= 3"],
  ["--limit="],
])("%s is no limit", (word) => {
  expect(() => readArguments(["a.json", word])).toThrow(
    new UsageError("--limit takes a whole number from 1 up, such as --limit 2."),
  );
});

test.each(["out.ndjson", "out", "-"])("an import writes no %s", (output) => {
  const words = ["import", "a.mbox", output];
  expect(() => readArguments(words)).toThrow("OUT.json is to end in .json.");
});

test.each(["a.JSONL", "a.ndjson", "-", "a.triage.sqlite"])("a query may follow %s", (file) => {
  expect(readArguments(["query", file, "select 1"])).toMatchObject({ file, text: "select 1" });
});
