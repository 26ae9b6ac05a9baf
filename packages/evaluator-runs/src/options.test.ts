import { createCommand, runCommand, UsageError } from "evaluator-kit";
import { createTestContext } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { declareCommands } from "./options.ts";
import { sampleSource } from "./testing/samples.ts";

/** Parses words and returns the command with its options. */
async function parse(words: readonly string[]): Promise<Record<string, unknown>> {
  const context = createTestContext();
  const program = createCommand("runs", { context, version: "1.0.0" });
  const { query, ...others } = declareCommands(program, { source: sampleSource });
  let parsed = {};
  for (const [name, command] of Object.entries(others)) {
    command.action((file: string | undefined, options: object) => {
      parsed = { name, file, ...options };
    });
  }
  query.action((text, file, options) => {
    parsed = { name: "query", text, file, ...options };
  });
  await runCommand(program, words, context);
  return parsed;
}

test("a file alone means all of it, through the service, without raw output", async () => {
  expect(await parse(["run", "inbox.json"])).toEqual({
    name: "run",
    file: "inbox.json",
    limit: Number.POSITIVE_INFINITY,
    maxCost: Number.POSITIVE_INFINITY,
    format: "json",
    top: Number.POSITIVE_INFINITY,
  });
});

test("query ends after a minute or a million rows unless it is told otherwise", async () => {
  expect(await parse(["query", "select 1"])).toEqual({
    name: "query",
    text: "select 1",
    timeout: 60,
    rows: 1_000_000,
  });
  const options = ["--timeout", "3600", "--rows", "1", "--allow-superuser"];
  const given = { timeout: 3600, rows: 1, allowSuperuser: true };
  expect(await parse(["query", "select 1", ...options])).toMatchObject(given);
  for (const option of ["--timeout=3601", "--timeout=0", "--rows=0"]) {
    await expect(parse(["query", "select 1", option])).rejects.toThrow(/^Option '--(timeout|rows)/);
  }
});

test.each(["--price", "--then-price"])("%s refuses the price of one token", async (option) => {
  const words = ["run", "a.json", option, "0.000000042"];
  await expect(parse(words)).rejects.toThrow(/one token; set US dollars .* here 0\.042\./);
});

test.each([
  [["work"], { name: "work" }],
  [["work", "--run", "3", "--journal", "postgres://h/d"], { run: 3, journal: "postgres://h/d" }],
  [["work", "--wait", "--rate", "60", "--price=0.05"], { wait: true, rate: 60, price: 0.05 }],
  [["status", "--journal=a.triage.sqlite"], { name: "status", journal: "a.triage.sqlite" }],
  [["export", "--run=2", "--format", "csv"], { name: "export", run: 2, format: "csv" }],
  [["export", "--since", "2026-11-02"], { since: "2026-11-02" }],
  [["export", "--only", "new", "--rules", "r.txt"], { only: "new", rules: "r.txt" }],
  [["label", "a.json"], { count: 100, port: 0, labeler: "person" }],
  [
    ["run", "--raw", "inbox.json", "--offline", "--limit", "3"],
    { file: "inbox.json", limit: 3, raw: true, offline: true },
  ],
])("%j is read", async (words, command) => {
  expect(await parse(words)).toMatchObject(command);
});

test.each([
  [["status", "postgres://ada:secret@db.example.com/x"]],
  [["run", "a.json", "--format", "postgres://ada:secret@db.example.com/x"]],
  [["run", "a.json", "--jounal=postgres://ada:secret@db.example.com/x"]],
])("a database's URL in the wrong place is not quoted", async (words) => {
  await expect(parse(words)).rejects.toThrow(
    refusal("Give a database's URL to --journal or RECORDS_JOURNAL.", words[0]),
  );
});

function refusal(message: string, command = "run"): UsageError {
  return new UsageError(`${message}\nFor its options: runs ${command} --help`);
}

const from1 = "Use a whole number from 1 up, such as 2.";
const dollars = "Use US dollars from 0 up, such as 0.5.";

test.each([
  ["--concurrency=0", `Option '--concurrency <n>' argument '0' is invalid. ${from1}`],
  ["--top=some", `Option '--top <n>' argument 'some' is invalid. ${from1}`],
  ["--max-cost=$2", `Option '--max-cost <usd>' argument '$2' is invalid. ${dollars}`],
  ["--max-cost=-1", `Option '--max-cost <usd>' argument '-1' is invalid. ${dollars}`],
  ["--max-cost=NaN", `Option '--max-cost <usd>' argument 'NaN' is invalid. ${dollars}`],
  ["--since=monday", "Option '--since <day>' argument 'monday' is invalid. Use a day: 2026-11-02."],
  [
    "--since=2026-02-30",
    "Option '--since <day>' argument '2026-02-30' is invalid. Use a day: 2026-11-02.",
  ],
  ["--limt", "Unknown option '--limt' (Did you mean --limit?)"],
  ["b.json", "Too many arguments for 'run'. Expected 1 argument but got 2: a.json, b.json."],
  ["--limit", "Option '--limit <n>' argument missing."],
])("%s is refused with what would be right", async (word, message) => {
  await expect(parse(["run", "a.json", word])).rejects.toThrow(refusal(message));
});

test("run needs a file", async () => {
  await expect(parse(["run"])).rejects.toThrow(refusal("Missing required argument 'file'."));
});

test.each(["0", "-1", "2.5", "1e3", "ten", " 3", ""])("%j is no limit", async (value) => {
  await expect(parse(["run", "a.json", `--limit=${value}`])).rejects.toThrow(
    refusal(`Option '--limit <n>' argument '${value}' is invalid. ${from1}`),
  );
});
