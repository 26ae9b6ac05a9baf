import { utimesSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "evaluator-kit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { recordingTransport, sampleResponse } from "../testing/samples.ts";
import { sampleTicket } from "../testing/tickets/ticket-source.ts";
import { endlessQueries, startQuery } from "../testing/start-query.ts";
import { startTickets } from "../testing/tickets/start-tickets.ts";

const tickets = [
  sampleTicket({ id: "m-1" }),
  sampleTicket({ id: "m-2", from: "Bo <Bo@example.com>", subject: "=1+1\u001b[31m \u202eX" }),
  sampleTicket({ id: "m-3" }),
];

let cwd: string;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "triage-"));
  await writeFile(join(cwd, "inbox.json"), JSON.stringify(tickets));
  const transport = recordingTransport((index) =>
    index === 2 ? { answers: {} } : sampleResponse({ importance: index + 1 }),
  );
  await startTickets(["inbox.json"], { cwd, transport });
});
afterAll(() => rm(cwd, { recursive: true }));

async function ask(words: readonly string[], stdout?: object) {
  return await startTickets(["query", ...words], { cwd, ...(stdout && ({ stdout } as object)) });
}

test("each answer is a column, and tickets, answers and runs can be asked together", async () => {
  const results = await ask([
    `select tickets.id, tickets.category, importance_conf, sender, error is null as fine,
         answers.importance_probabilities ->> '2' as two, answers.input_tokens, runs.answered
       from tickets left join answers using (id), runs order by tickets.importance desc, id;`,
    "--format",
    "json",
  ]);
  expect(JSON.parse(results.stdout)).toEqual([
    {
      id: "m-2",
      category: "receipt",
      importance_conf: 0.8,
      sender: "Bo <Bo@example.com>",
      fine: 1,
      two: 1,
      input_tokens: 300,
      answered: 2,
    },
    expect.objectContaining({ id: "m-1", two: 0 }),
    expect.objectContaining({ id: "m-3", category: null, fine: 0, two: null, input_tokens: null }),
  ]);
});

test("what a ticket says stays text: no formula in CSV, no escape in JSON or in a table", async () => {
  const query = "select subject, 1 as n from tickets where id = 'm-2'";
  expect((await ask([query])).stdout).toBe("subject,n\n'=1+1 X,1\n");
  const { stdout } = await ask([query, "--format", "ndjson"]);
  expect(stdout).toBe('{"subject":"=1+1\\u001b[31m \\u202eX","n":1}\n');
  let printed = "";
  const terminal = { isTTY: true, columns: 12, write: (text: string) => (printed += text) };
  await ask([query], terminal);
  expect(printed).toBe("subject  n\n=1+1 X   1\n");
  printed = "";
  await startTickets(["export", "--format", "ndjson"], { cwd, stdout: terminal });
  expect(printed).toContain(String.raw`"subject":"=1+1\u001b[31m \u202eX"`);
});

test("without a query it names the tables, and a terminal shows the first rows of many", async () => {
  const { stdout } = await ask(["inbox.json", "--format", "csv"]);
  expect(stdout).toContain("tickets,brand_deal,number\n");
  expect(stdout).toContain("\nanswers,category_probabilities,json\n");
  const counted = "with recursive t (n) as (select 1 union all select n + 1 from t where n < 1200)";
  const table = await ask([`${counted} select n from t`, "--format", "table"]);
  expect(table.stdout.split("\n").slice(999)).toEqual([
    "999",
    "1000",
    "200 more rows; --format csv prints them all.",
    "",
  ]);
  const wide = Array.from({ length: 500 }, (_, at) => `printf('%.*c', 80, 'x') as c${at}`);
  const few = await ask([`${counted} select ${wide.join(", ")} from t`, "--format", "table"]);
  expect(few.stdout.slice(-60)).toMatch(/x\n1,1\d\d more rows; --format csv prints them all\.\n$/);
});

test.each([
  ["delete from tickets", 'begins with select, with or values, not "delete"'],
  ["select 1; drop table tickets", 'a second begins at character 11 ("drop table tickets")'],
  ["with x as (select 1) delete from tickets", "A query only reads the tables (not authorized)"],
  ["select load_extension('x')", "not authorized"],
  ["values (1)) --", 'near ")": syntax error'],
  ["select scm from tickets", "no such column: scm.\nThere are:\n  tickets: id, date, sender, "],
  ["select category from tickets join answers using (id)", "Write tickets.NAME."],
  ["select * from letters", "no such table: letters"],
  ["/* ; */ -- ;", "The query is empty."],
])("%s is refused, and nothing is changed", async (query, message) => {
  const before = await readFile(join(cwd, "inbox.tickets.sqlite"));
  const { exitCode, stderr, stdout } = await ask([query]);
  expect([exitCode, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(message);
  expect(before.equals(await readFile(join(cwd, "inbox.tickets.sqlite")))).toBe(true);
});

const counted = "with recursive t (n) as (select 1 union all select n + 1 from t)";

test("a query that does not end is ended after its time", async () => {
  const words = ["query", endlessQueries["a count"] ?? "", "--timeout", "1"];
  const message = "The query took over 1 second. Ask for less, or set --timeout.\n";
  const outcome = { exitCode: 1, stdout: "", stderr: message };
  expect(await startTickets(words, { cwd, clock: systemClock })).toEqual(outcome);
});

test("rows without end are ended by --rows, and those so far are whole", async () => {
  const query = `${counted} select n from t`;
  const json = await ask([query, "--rows", "1234", "--format", "json"]);
  expect(JSON.parse(json.stdout)).toHaveLength(1234);
  const stderr = "The result has over 1,234 rows; raise --rows.\n";
  expect([json.exitCode, json.stderr]).toEqual([1, stderr]);
  const table = await ask([query, "--rows", "1234", "--format", "table"]);
  expect(table.stdout).toContain("1000\n234 more rows; --format csv prints them all.\n");
  expect([table.exitCode, table.stderr]).toEqual([1, stderr]);
  expect(await ask([`${query} limit 1234`, "--rows", "1234"])).toMatchObject({ exitCode: 0 });
});

test("rows without end are ended by an interruption", async () => {
  for (const format of ["csv", "table"]) {
    const controller = new AbortController();
    const clock = { ...systemClock, now: () => (setImmediate(() => controller.abort()), 0) };
    const given = { cwd, signal: controller.signal, stdout: { write: () => true }, clock };
    const words = ["query", `${counted} select n from t`, "--format", format];
    expect(await startTickets(words, given)).toMatchObject({ exitCode: 130 });
  }
});

const large = "A value is over 1 MB, or a row over 2 MB. Ask for a part";
const memory = "The query needs over 512 MB. Ask for less.\n";
const columnsOf = (count: number, cell: string) => Array.from({ length: count }, () => cell).join();

test.each([
  ["a text of 900 MB", "select printf('%.*c', 900000000, 'x')", large],
  ["a blob of 900 MB", "select zeroblob(900000000)", large],
  [
    "a group_concat of 2 GB",
    `${counted} select group_concat(printf('%.*c', 900000, 'x')) from (select n from t limit 2200)`,
    large,
  ],
  ["a row of 3 MB", `select ${columnsOf(3, "printf('%.*c', 999999, 'x')")}`, large],
  ["a row of 1 GB", `select ${columnsOf(1000, "printf('%.*c', 999999, 'x')")}`, memory],
])("%s is refused in a sentence", async (_, query, message) => {
  const { exitCode, stderr, stdout } = await ask([query]);
  expect([exitCode, stdout, stderr]).toEqual([1, "", expect.stringContaining(message)]);
  expect(stderr).not.toMatch(/There are|Error/);
});

test("a journal that is written while it is read is read again, by one process", async () => {
  const { signal } = new AbortController();
  const processes = () =>
    process.getActiveResourcesInfo().filter((name) => name === "ProcessWrap").length;
  const before = processes();
  let reads = 0;
  // Called for each row.
  const throwIfAborted = () => {
    reads += 1;
    if (reads === 1) utimesSync(join(cwd, "inbox.tickets.sqlite"), 0, 0);
  };
  const given = { cwd, signal: Object.assign(signal, { throwIfAborted }) };
  const { stdout } = await startTickets(["query", "select count(*) as n from tickets"], given);
  expect([stdout, reads]).toEqual(["n\n3\n", expect.toSatisfy((count) => count > 3)]);
  // The first process is ended without waiting for it; those of other tests of this worker stay.
  await expect.poll(processes).toBeLessThanOrEqual(before);
});

test("numbers that neither JSON nor JavaScript holds are texts", async () => {
  const query =
    "select 9223372036854775807 as big, 9e999 as huge, 9007199254740991 as safe, x'0aff' as bytes";
  const { stdout } = await ask([query, "--format", "ndjson"]);
  expect(stdout).toBe(
    '{"big":"9223372036854775807","huge":"Infinity","safe":9007199254740991,"bytes":"0aff"}\n',
  );
});

test.skipIf(process.platform !== "linux").each([
  ["SIGINT", 130],
  ["SIGKILL", null],
] as const)("%s to the program ends the process of the query", async (signal, exitCode) => {
  const query = await startQuery(cwd, [endlessQueries["a count"] ?? ""]);
  const number = await query.busyProcess();
  const seen = [`/proc/${number}/environ`, `/proc/${number}/cmdline`].map((file) => readFile(file));
  expect(Buffer.concat(await Promise.all(seen)).toString()).not.toMatch(/hidden|env-file/);
  query.child.kill(signal);
  expect(await query.ended).toMatchObject({ exitCode });
  await expect.poll(() => query.rest()).toEqual({ processes: [], files: [] });
});

test("a semicolon in a text, a name or a comment ends nothing", async () => {
  const query = `select ';' as "a;b" /* ; */ -- ; it's`;
  expect((await ask([query])).stdout).toBe("a;b\n;\n");
});
