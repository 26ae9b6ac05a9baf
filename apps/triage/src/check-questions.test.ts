import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { questionKinds } from "evaluator-client";
import { temporaryFolder } from "evaluator-kit/testing";
import { openTransport } from "evaluator-runs/commands";
import { expect, test } from "vitest";
import { startTriage } from "./testing/start-triage.ts";

const examples = fileURLToPath(new URL("../examples/", import.meta.url));
const schema = new URL("../questions.schema.json", import.meta.url);

async function check(text: string) {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "q.json"), text);
  const outcome = await startTriage(["questions", "check", "q.json"], { cwd });
  return { ...outcome, stderr: outcome.stderr.replaceAll(`${cwd}/`, "") };
}

const compiled = readFile(schema, "utf8").then((text) =>
  // The editor's own word for what it offers.
  new Ajv({ allErrors: true, keywords: ["defaultSnippets"] }).compile(JSON.parse(text)),
);

test("the schema of an editor has every kind of question", async () => {
  // A mail has no image.
  const kinds = Object.entries(questionKinds).filter(([, { needsImage }]) => needsImage !== true);
  const named = kinds.map(([kind]) => `"const": "${kind}"`);
  const text = await readFile(schema, "utf8");
  expect(named.filter((name) => !text.includes(name))).toEqual([]);
});

const yes = { type: "boolean", instructions: "Is it?" };
const levels = Array.from({ length: 11 }, (_, level) => `level ${level}`);

test.each([
  ["no object", [], "1:1 is no object; write { question id: question }"],
  ["no question", { $schema: "s" }, "1:1 has no question; write one"],
  ["a question that is text", { a: "Is it?" }, "1:2 a is text; write { "],
  [
    "an unknown type",
    { a: { ...yes, type: "bool" } },
    "1:7 a.type is text; write one of choice, score, boolean, box (a yes/no question is a boolean)",
  ],
  ["no type", { a: { instructions: "?" } }, "1:2 a.type is missing; write one of "],
  [
    "a field that there is not",
    { a: { ...yes, critera: {} } },
    "a.critera is not a field of a boolean question; use type, instructions, criteria",
  ],
  ["no instructions", { a: { type: "boolean" } }, "a.instructions is missing; write the question"],
  ["empty instructions", { a: { ...yes, instructions: "" } }, "a.instructions is empty; write the"],
  ["blank instructions", { a: { ...yes, instructions: " \n" } }, "a.instructions is empty; write"],
  [
    "a list of options",
    { a: { ...yes, type: "choice", criteria: ["b"] } },
    "a.criteria is a list; write each option with its description: ",
  ],
  [
    "a description that is a number",
    { a: { ...yes, type: "choice", criteria: { b: 1 } } },
    "a.criteria.b is a number; write its description as text",
  ],
  ["no option", { a: { ...yes, type: "choice", criteria: {} } }, "a.criteria is empty; write each"],
  ["no criteria", { a: { ...yes, type: "score" } }, "a.criteria is missing; write the levels"],
  ["a level that is null", { a: { ...yes, type: "score", criteria: [null] } }, "[0] is null;"],
  ["too many levels", { a: { ...yes, type: "score", criteria: levels } }, "has 11 levels; a model"],
  [
    "another yes",
    { a: { ...yes, criteria: { yes: "b" } } },
    "a.criteria.yes is not a field of the",
  ],
  ["an empty id", { "": yes }, "has no id; name it"],
])(
  "%s is refused by the check and by the schema: where, what, and what would be right",
  async (_, file, message) => {
    const { exitCode, stderr } = await check(JSON.stringify(file));
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(stderr).toMatch(/^q\.json cannot be used:\n {2}q\.json:1:\d+ /);
    expect((await compiled)(file)).toBe(false);
  },
);

test("every problem has its line and column, and what JSON loses or cannot read is one", async () => {
  const two = '{\n  "a": { "type": "boolean" },\n  "b": 1\n}';
  expect((await check(two)).stderr).toContain("  q.json:2:3 a.instructions is missing; ");
  expect((await check(two)).stderr).toContain("\n  q.json:3:3 b is a number; ");
  const twice = `{\n  "a": ${JSON.stringify(yes)},\n  "a": ${JSON.stringify(yes)}\n}`;
  expect((await check(twice)).stderr).toContain(
    "q.json:3:3 a is there twice; rename or remove one",
  );
  const options = (criteria: string) =>
    check(`{"a":{"type":"choice","instructions":"Which month?","criteria":${criteria}}}`);
  const moved = await options('{ "3": "March", "x": "other", "1": "January" }');
  expect(moved.stderr).toContain(
    " a.criteria.1 looks like an integer, which JavaScript sorts first",
  );
  expect((await options('{ "1": "January", "3": "March", "x": "other" }')).exitCode).toBe(0);
  const comma = '{\n  "a": 1\n  "b": 2\n}';
  expect((await check(comma)).stderr).toContain("q.json:3:3 is not JSON here: comma expected");
  const deep = (await check("[".repeat(100_000))).stderr;
  expect(deep).toContain("q.json:1:1 is nested too deeply");
});

test("the schema is printed for files elsewhere", async () => {
  const { stdout } = await startTriage(["questions", "schema"], {});
  expect(stdout).toBe(await readFile(schema, "utf8"));
  expect(await startTriage(["questions", "chek", "q.json"], {})).toMatchObject({ exitCode: 1 });
});

test.each([
  [
    "support-tickets",
    "tickets.json",
    "team teamConf urgency urgencyConf wantsRefund mayLeave",
    ["Team", "Urgency", "Wants refund", "May leave"],
  ],
  [
    "job-applications",
    "applications.json",
    "role roleConf completeness completenessConf asksSomething hasDeadline",
    ["Role", "Completeness", "Asks something", "Has deadline"],
  ],
])(
  "the questions of %s give columns everywhere, with nothing else to write",
  async (name, file, columns, titles) => {
    const cwd = await temporaryFolder();
    await cp(join(examples, name), cwd, { recursive: true });
    const questions = await readFile(join(cwd, "questions.json"), "utf8");
    expect((await compiled)(JSON.parse(questions))).toBe(true);
    const checked = await startTriage(["questions", "check", "questions.json"], { cwd });
    expect(checked.stdout).toContain("questions.json can be asked: 4 questions.");
    const words = [file, "--questions", "questions.json", "--offline"];
    const { stdout, exitCode } = await startTriage(words, { cwd, openTransport });
    const names = columns.split(" ");
    expect([exitCode, stdout.split("\n", 1)]).toEqual([
      0,
      [expect.stringMatching(new RegExp(`^${names.join(" +")} +date +from +subject$`))],
    ]);
    const { stdout: csv } = await startTriage(["export", file, "--format", "csv"], { cwd });
    expect(csv.split("\n", 1)).toEqual([`id,date,from,subject,${names.join(",")}`]);
    await startTriage(["report", file], { cwd });
    const page = await readFile(join(cwd, file.replace(".json", ".triage.html")), "utf8");
    for (const title of titles) expect(page).toContain(title);
  },
);
