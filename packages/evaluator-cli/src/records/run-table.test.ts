import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { startEmulator } from "../testing/engines.ts";
import { run as runWords } from "../testing/run.ts";
import { folderOf, runTable as run, tickets } from "../testing/tickets.ts";

async function statesOf(cwd: string, file: string) {
  const words = ["query", "select id, state from records", file, "--format", "ndjson"];
  const { stdout } = await runWords(cwd, words);
  const rows = stdout.trim().split("\n");
  return rows.map((row) => {
    const { id, state } = JSON.parse(row) as { id: string; state: string };
    return [id, JSON.parse(state) as unknown];
  });
}

/** Returns the problem of a file, without the sentence before it. */
async function problemOf(content: string | Uint8Array, words: readonly string[] = []) {
  const cwd = await folderOf({ "tickets.csv": content });
  const { exitCode, stdout, stderr } = await run(cwd, ["tickets.csv", ...words]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  const start = `${join(cwd, "tickets.csv")} cannot be used, and nothing was sent:\n  `;
  expect(stderr.slice(0, start.length)).toBe(start);
  return stderr.slice(start.length).trimEnd();
}

test("without a key the message names the variable and --offline", async () => {
  const cwd = await folderOf({ "t.csv": tickets });
  const { stderr } = await runWords(cwd, ["run", "t.csv", "--questions", "q.json"], { env: {} });
  expect(stderr).toContain(
    "a key is missing: set AI_GATEWAY_API_KEY, or add --offline to let the local emulator answer.\n",
  );
});

test("every record of a CSV is asked once, and the same command again asks nothing", async () => {
  const { gatewayBaseUrl, paths } = await startEmulator();
  const cwd = await folderOf({ "tickets.csv": tickets });
  const words = ["run", "tickets.csv", "--questions", "q.json", "--state", "subject,text=body"];
  const engine = ["--engine", `gateway=${gatewayBaseUrl}`];
  const first = await runWords(cwd, [...words, "--limit", "2", ...engine]);
  expect(first).toMatchObject({ exitCode: 0, stdout: "" });
  expect(first.stderr).toMatch(/^Answered: 2\. Journal: tickets\.evaluator\.sqlite\. Took /m);
  const whole = await runWords(cwd, [...words, ...engine]);
  expect(whole.stderr).toContain("Answered: 1, 2 answered already. Journal: ");
  const again = await runWords(cwd, [...words, ...engine]);
  expect(again.stderr).toContain("Answered: 0, 3 answered already. Journal: ");
  const asked = (await paths()).filter((path) => path.endsWith("/evaluation-model"));
  expect(asked).toHaveLength(3);
  const results = await readFile(join(cwd, "tickets.evaluator.json"), "utf8");
  const refund = expect.any(Number) as number;
  expect(JSON.parse(results)).toEqual([
    { id: "t-1", refund },
    { id: "t-2", refund },
    { id: "t-3", refund },
  ]);
  expect(await statesOf(cwd, "tickets.csv")).toEqual([
    ["t-1", { subject: "Refund", text: 'Give me my "money",\nplease' }],
    ["t-2", { subject: "Crash", text: "The app crashes" }],
    ["t-3", { subject: "Hello", text: "" }],
  ]);
});

test("work, status and export go on with the columns and the questions of the run", async () => {
  const cwd = await folderOf({ "tickets.csv": tickets.replace("id,", "number,") });
  await run(cwd, ["tickets.csv", "--id", "number", "--state", "body,subject"]);
  const work = await runWords(cwd, ["work", "--offline"]);
  expect(work.stderr).toContain("Answered: 0, 3 answered already.");
  const exported = await runWords(cwd, ["export", "--format", "csv"]);
  expect(exported).toMatchObject({ exitCode: 0, stderr: "" });
  expect(exported.stdout).toMatch(/^id,refund\nt-1,0\.\d+\nt-2,0\.\d+\nt-3,0\.\d+\n$/);
  const status = await runWords(cwd, ["status"]);
  expect(status.stdout).toContain("3 of 3 records answered");
});

const records = [
  { id: 7, subject: "Refund", parts: [{ text: "ü" }] },
  { id: "b", subject: "Crash", parts: null },
];
const states = [
  ["7", { subject: "Refund", parts: [{ text: "ü" }] }],
  ["b", { subject: "Crash", parts: null }],
];
const lines = records.map((record) => `${JSON.stringify(record)}\r\n`).join("");

test.each([
  ["a JSON array", JSON.stringify(records)],
  ["records of a JSON object", JSON.stringify({ records })],
  ["JSON lines", lines],
  ["JSON lines with a byte order mark", `\uFEFF${lines}`],
  ["JSON lines in UTF-16", Buffer.from(lines, "utf16le")],
])("the states of %s are all fields but the id", async (_, content) => {
  const cwd = await folderOf({ "t.json": content });
  expect((await run(cwd, ["t.json"])).exitCode).toBe(0);
  expect(await statesOf(cwd, "t.json")).toEqual(states);
  expect(await runWords(cwd, ["export", "t.json"])).toMatchObject({ exitCode: 0, stderr: "" });
});

const german = 'id;betreff\r\n1;"Rück; gabe"\r\n2;Absturz';

test.each([
  ["semicolons and CRLF", german],
  ["a byte order mark", `\uFEFF${german}`],
  ["UTF-16", Buffer.from(`\uFEFF${german}`, "utf16le")],
  ["UTF-16 of the other order, without a mark", Buffer.from(german, "utf16le").swap16()],
])("a CSV with %s is read", async (_, content) => {
  const cwd = await folderOf({ "t.csv": content });
  expect((await run(cwd, ["t.csv"])).exitCode).toBe(0);
  expect(await statesOf(cwd, "t.csv")).toEqual([
    ["1", { betreff: "Rück; gabe" }],
    ["2", { betreff: "Absturz" }],
  ]);
});

test("standard input is a table, and keeps its journal as stdin.evaluator.sqlite", async () => {
  const cwd = await folderOf({});
  const { stderr } = await run(cwd, ["-"], { stdin: Readable.from([Buffer.from(tickets)]) });
  expect(stderr).toContain("Answered: 3. Journal: stdin.evaluator.sqlite.");
});

test.each([
  ["truth", "truth"],
  ["label", "Label"],
  ["a question", "refund"],
])("a column named like %s is refused before the first call, unless chosen", async (_, name) => {
  const cwd = await folderOf({ "t.csv": `id,subject,${name}\n1,Refund,yes\n` });
  const { exitCode, stdout, stderr } = await run(cwd, ["t.csv"]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toBe(
    `${join(cwd, "t.csv")} cannot be used, and nothing was sent:\n  the column "${name}" has the answer; choose others, such as --state subject\n`,
  );
  expect(await readdir(cwd)).toEqual(["q.json", "t.csv"]);
  expect((await run(cwd, ["t.csv", "--state", `subject,${name}`])).exitCode).toBe(0);
});

test.each([
  ["nothing", "", "it has no record; write CSV with a header, or NDJSON"],
  ["blank lines", " \n\n", "it has no record; write CSV with a header, or NDJSON"],
  ["a header alone", "id,body\n", "it has no record; write CSV with a header, or NDJSON"],
  ["an empty array", "[]", "it has no record; write CSV with a header, or NDJSON"],
  [
    "a broken record alone",
    `{"id":1,\n`,
    "record at index 0, line 1 (no id): is not JSON; check line 1 column 9",
  ],
  [
    "no column of ids",
    "number,body\n1,a\n",
    'no record has the column "id"; there are number, body; give every record its own id, in the column that --id names',
  ],
  ["an ID in capitals", "ID,body\n1,a\n", 'no record has the column "id"; there is "ID": --id ID'],
  ["another separator of Excel", "sep=|\nid|body\n1|a\n", "line 1: is Excel's separator line"],
  [
    "a repeated id",
    "id,body\n1,a\n1,b\n",
    'index 1, line 3 (id "1"): id is also that of the record at index 0, line 2;',
  ],
  [
    "a blank id",
    "id,body\n1,a\n,b\n",
    "index 1, line 3 (no id): has no id; give every record its own id",
  ],
  [
    "a blank state",
    "id,body\n1,a\n2, \n",
    'index 1, line 3 (id "2"): has a blank state; fill it, or',
  ],
  [
    "a record that is no object",
    '{"id":1,"a":1}\n[2]\n',
    "index 1, line 2 (no id): is not an object",
  ],
  [
    "an integer of the state that would be rounded",
    '{"id":1,"order":{"numbers":[7,9007199254740993]}}\n',
    'index 0, line 1 (no id): "order.numbers.1" would be rounded; write it as text',
  ],
  ["an id that would be rounded", '[{"id":9007199254740993,"a":"b"}]', '"id" would be rounded'],
  ["Latin-1", Buffer.from("id,body\n1,Rückgabe\n", "latin1"), "line 2: is not UTF-8 text; save"],
  [
    "half of UTF-16",
    Buffer.from("\uFEFFid,body\n1,a", "utf16le").subarray(0, -1),
    "not whole UTF-16",
  ],
  ["a quoted field without an end", 'id,body\n1,"a\n', "line 2: a quote never closes"],
  ["a short line", "id,body\n1\n", "line 2: has 1 cell, and the header 2"],
])("%s ends a run before the first call", async (_, content, problem) => {
  expect(await problemOf(content)).toContain(problem);
});

test("two inputs of one name share a journal, and the second run says so", async () => {
  const one = { "tickets.csv": "id,body\n1,a\n", "tickets.json": '[{"id":2,"body":"b"}]' };
  const cwd = await folderOf(one);
  const shared =
    "tickets.evaluator.sqlite also has the records of tickets.csv, whose results tickets.json replaces; rename one to keep both.\n";
  for (const [file, isSaid] of [
    ["tickets.csv", false],
    ["tickets.csv", false],
    ["tickets.json", true],
  ] as const) {
    const { exitCode, stderr } = await run(cwd, [file]);
    expect([exitCode, stderr.includes(shared)]).toEqual([0, isSaid]);
  }
  // The newest run goes on with its own input.
  const { stderr } = await runWords(cwd, [
    "work",
    "--journal",
    "tickets.evaluator.sqlite",
    "--offline",
  ]);
  expect(stderr).not.toContain("also has");
});

test("a number that no state has may have any digits, and one that stays itself is sent", async () => {
  const exact = "9007199254740994";
  const cwd = await folderOf({ "t.ndjson": `{"id":1,"a":${exact},"b":9007199254740993}\n` });
  expect((await run(cwd, ["t.ndjson", "--state", "a"])).exitCode).toBe(0);
  expect(await statesOf(cwd, "t.evaluator.sqlite")).toEqual([["1", { a: Number(exact) }]]);
});

test("a column that no record has is named, with the option to change", async () => {
  expect(await problemOf(tickets, ["--state", "subject,boddy"])).toBe(
    'no record has the column "boddy"; there are id, subject, body; choose those of the state with --state',
  );
  expect(await problemOf(tickets, ["--state", "Subject"])).toBe(
    'no record has the column "Subject"; there is "subject": --state subject',
  );
});

test("of a hundred thousand columns some are to be chosen, and those are read", async () => {
  const names = Array.from({ length: 1e5 }, (_, index) => `c${index}`).join(",");
  const content = `id,${names}\n1,${names}\n`;
  expect(await problemOf(content)).toBe(
    "it has more than 1000 columns; choose some with --state A,B",
  );
  const cwd = await folderOf({ "t.csv": content });
  expect((await run(cwd, ["t.csv", "--state", "c99999"])).exitCode).toBe(0);
  expect(await statesOf(cwd, "t.csv")).toEqual([["1", { c99999: "c99999" }]]);
});

test("--skip-invalid leaves out what is wrong, and ends with 2", async () => {
  const cwd = await folderOf({ "t.csv": "id,body\n1,a\n1,b\n,c\n2,d\n" });
  const { exitCode, stderr } = await run(cwd, ["t.csv", "--skip-invalid"]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("Left out as invalid (2):");
  expect(stderr).toContain("Answered: 2. Journal: ");
});

test.each([
  [["--state", "a,"], "Use each column once"],
  [["--state", "a,b=a,a=c"], "Use each column once"],
  [["--engine", "gate"], "an engine is one of typesafe"],
  [["--engine", "gateway", "--offline"], "cannot be used with option"],
  [["--since", "2026-11-02"], "Unknown option '--since'"],
  [["--top", "3"], "Unknown option '--top'"],
])("%j mean nothing: %s", async (words, problem) => {
  const cwd = await folderOf({ "tickets.csv": tickets });
  const all = ["run", "tickets.csv", "--questions", "q.json", ...words];
  const { exitCode, stderr } = await runWords(cwd, all);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(problem);
  expect(stderr).toContain("For its options: evaluator-cli run --help");
});
