import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { recordingTransport, sampleMail, sampleResponse } from "../testing/samples.ts";
import { startTriage, stoppedClock } from "../testing/start-triage.ts";

const mails = [
  sampleMail({ id: "m-1" }),
  sampleMail({ id: "m-2", from: "Bo <Bo@example.com>", subject: "=1+1\u001b[31m \u202eX" }),
  sampleMail({ id: "m-3" }),
];

let cwd: string;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "triage-"));
  await writeFile(join(cwd, "inbox.json"), JSON.stringify(mails));
  const transport = recordingTransport((index) =>
    index === 2 ? { answers: {} } : sampleResponse({ importance: index + 1 }),
  );
  await startTriage(["inbox.json"], { cwd, transport });
});
afterAll(() => rm(cwd, { recursive: true }));

async function ask(words: readonly string[], stdout?: object) {
  return await startTriage(["query", ...words], { cwd, ...(stdout && ({ stdout } as object)) });
}

test("each answer is a column, and mails, answers and runs can be asked together", async () => {
  const results = await ask([
    `select mails.id, mails.category, importance_conf, address, error is null as fine,
         answers.importance_probabilities ->> '2' as two, answers.input_tokens, runs.answered
       from mails left join answers using (id), runs order by mails.importance desc, id;`,
    "--format",
    "json",
  ]);
  expect(JSON.parse(results.stdout)).toEqual([
    {
      id: "m-2",
      category: "receipt",
      importance_conf: 0.8,
      address: "bo@example.com",
      fine: 1,
      two: 1,
      input_tokens: 300,
      answered: 2,
    },
    expect.objectContaining({ id: "m-1", two: 0 }),
    expect.objectContaining({ id: "m-3", category: null, fine: 0, two: null, input_tokens: null }),
  ]);
});

test("what a mail says stays text: no formula in CSV, no escape in JSON or in a table", async () => {
  const query = "select subject, 1 as n from mails where id = 'm-2'";
  expect((await ask([query])).stdout).toBe("subject,n\n'=1+1 X,1\n");
  const { stdout } = await ask([query, "--format", "ndjson"]);
  expect(stdout).toBe('{"subject":"=1+1\\u001b[31m \\u202eX","n":1}\n');
  let printed = "";
  const terminal = { isTTY: true, columns: 12, write: (text: string) => (printed += text) };
  await ask([query], terminal);
  expect(printed).toBe("subject  n\n=1+1 X   1\n");
  printed = "";
  await startTriage(["export", "--format", "ndjson"], { cwd, stdout: terminal });
  expect(printed).toContain(String.raw`"subject":"=1+1\u001b[31m \u202eX"`);
});

test("without a query it names the tables, and a terminal shows the first rows of many", async () => {
  const { stdout } = await ask(["inbox.json", "--format", "csv"]);
  expect(stdout).toContain("mails,brand_deal,number,the probability of yes\n");
  expect(stdout).toContain("\nanswers,category_probabilities,json,");
  const counted = "with recursive t (n) as (select 1 union all select n + 1 from t where n < 1200)";
  const table = await ask([`${counted} select n from t`, "--format", "table"]);
  expect(table.stdout.split("\n").slice(198)).toEqual([
    "198",
    "199",
    "200",
    "1,000 more rows; --format csv prints them all.",
    "",
  ]);
});

test.each([
  ["delete from mails", 'it begins with select, with or values, and this one begins with "delete"'],
  ["select 1; drop table mails", 'a second one begins at character 11 ("drop table mails")'],
  ["with x as (select 1) delete from mails", "cannot modify mails because it is a view"],
  [
    'with x as (select 1) delete from "kept mails"',
    "would do more than read the tables (not authorized)",
  ],
  ["select load_extension('x')", "not authorized"],
  ["values (1)) --", 'near ")": syntax error'],
  ["select scm from mails", "no such column: scm.\nThere are:\n  mails: id, date, sender, "],
  ["select category from mails join answers using (id)", "Write whose it is: mails.NAME."],
  ["select * from letters", "no such table: letters"],
  ["/* ; */ -- ;", "The query is empty."],
])("%s is refused, and nothing is changed", async (query, message) => {
  const before = await readFile(join(cwd, "inbox.triage.sqlite"));
  const { exitCode, stderr, stdout } = await ask([query]);
  expect([exitCode, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(message);
  expect(before.equals(await readFile(join(cwd, "inbox.triage.sqlite")))).toBe(true);
});

test("a join that goes on and on ends after a minute, and rows without end when it is interrupted", async () => {
  let now = 0;
  const clock = { ...stoppedClock, now: () => (now += 10_000) };
  const joined = Array.from({ length: 10 }, (_, at) => `mails m${at}`).join(", ");
  const { stderr } = await startTriage(["query", `select count(*) from ${joined}`], { cwd, clock });
  expect(stderr).toContain("The query took longer than a minute. Ask for less of it.");
  const endless =
    "with recursive t (n) as (select 1 union all select n + 1 from t) select n from t";
  for (const format of ["csv", "table"]) {
    const controller = new AbortController();
    // The query reads the clock when it begins, and not again without a table.
    const now = () => {
      setImmediate(() => controller.abort());
      return 0;
    };
    const { signal } = controller;
    const stdout = { write: () => true };
    const words = ["query", endless, "--format", format];
    const given = { cwd, signal, stdout, clock: { ...stoppedClock, now } };
    expect(await startTriage(words, given)).toMatchObject({ exitCode: 130 });
  }
});

test("a semicolon in a text, a name or a comment ends nothing", async () => {
  const query = `select ';' as "a;b" /* ; */ -- ; it's`;
  expect((await ask([query])).stdout).toBe("a;b\n;\n");
});
