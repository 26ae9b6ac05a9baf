import { execFile } from "node:child_process";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { Journal } from "../testing/index.ts";
import { recordingTransport, sampleResponse } from "../testing/samples.ts";
import { sampleTicket } from "../testing/tickets/ticket-source.ts";
import { folderWith, readResults, startTickets } from "../testing/tickets/start-tickets.ts";

const tickets = ["m-1", "m-2", "m-3"].map((id) => sampleTicket({ id, subject: `About ${id}` }));

const setup = { questions: {}, service: { address: "w", modelId: "m" } };

async function folderAfterRun() {
  const cwd = await folderWith(tickets);
  await startTickets(["inbox.json"], { cwd });
  return { cwd, journal: join(cwd, "inbox.tickets.sqlite") };
}

async function runAgain(cwd: string) {
  const transport = recordingTransport();
  const outcome = await startTickets(["inbox.json"], { cwd, transport });
  return { ...outcome, asked: transport.requests.length };
}

function edit(journal: string, sql: string): void {
  const database = new DatabaseSync(journal);
  database.exec(sql);
  database.close();
}

test("is one file after a run, for its owner alone", async () => {
  const { journal } = await folderAfterRun();
  expect((await stat(journal)).mode & 0o777).toBe(0o600);
});

test("a second process on the same file is refused before anything is sent", async () => {
  const { cwd, journal } = await folderAfterRun();
  const module = import.meta.resolve("../testing/index.ts");
  const program = `
    const { Journal } = await import(${JSON.stringify(module)});
    try { Journal.open(${JSON.stringify(journal)}, ${JSON.stringify(setup)}); } catch (error) { process.stdout.write(error.message); }`;
  const held = Journal.open(journal, setup);
  onTestFinished(() => held[Symbol.dispose]());
  const words = ["--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  expect(stdout).toBe(`The journal ${journal} is in use by another run; wait for its end.`);
  expect(await runAgain(cwd)).toMatchObject({ exitCode: 1, asked: 0 });
});

test.each([
  ["answer", "evaluation = replace(evaluation, '0.12', '0.99')"],
  ["state", "state = replace(state, 'About', 'Above')"],
  ["key's answer", "evaluation = (SELECT evaluation || ' ' FROM answers LIMIT 1)"],
])("an edited %s is asked again, and the summary says so", async (_, change) => {
  const { cwd, journal } = await folderAfterRun();
  edit(journal, `UPDATE answers SET ${change} WHERE state LIKE '%m-2%'`);
  const { asked, stderr } = await runAgain(cwd);
  expect(asked).toBe(1);
  expect(stderr).toContain("1 damaged in the journal, asked again");
  expect(await readResults(cwd)).toMatchObject(tickets.map(() => ({ scam: 0.12 })));
});

test("of edited answers, the summary counts those that the maximum cost let the run ask for again", async () => {
  const { cwd, journal } = await folderAfterRun();
  edit(journal, "UPDATE answers SET evaluation = replace(evaluation, '0.12', '0.99')");
  const dear = { ...sampleResponse(), providerMetadata: { gateway: { marketCost: "0.01" } } };
  const transport = recordingTransport(() => dear);
  const words = ["inbox.json", "--concurrency", "1", "--max-cost", "0.01"];
  const { stderr } = await startTickets(words, { cwd, transport });
  expect(transport.requests).toHaveLength(1);
  expect(stderr).toContain("Answered: 1, 1 damaged in the journal, asked again.");
});

test("calls that ended, with an answer or without, are not told as in flight", async () => {
  const cwd = await folderWith(tickets);
  const transport = recordingTransport((index) => (index === 1 ? {} : sampleResponse()));
  await startTickets(["inbox.json", "--concurrency", "2"], { cwd, transport });
  const { asked, stderr } = await runAgain(cwd);
  expect(asked).toBe(1);
  expect(stderr).toContain("Answered: 1, 2 answered already. ");
});

test("each step is synced to the disk before it counts", async () => {
  const prepare = vi.spyOn(DatabaseSync.prototype, "prepare");
  const { cwd } = await folderAfterRun();
  using journal = Journal.open(join(cwd, "other.tickets.sqlite"), setup);
  const database = prepare.mock.contexts.at(-1) as DatabaseSync | undefined;
  // 2 is FULL: less loses the last answers, which are paid for, when the power fails.
  expect(database?.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
  journal.noteRecords([]);
});

test.each([
  [
    "of another version",
    "PRAGMA user_version = 7",
    /is of version 7, not 6\. Use the program that/,
  ],
  [
    "of another program",
    "PRAGMA application_id = 1",
    /is not a journal of this program; move it away/,
  ],
])("a journal %s is refused, and nothing is sent", async (_, sql, message) => {
  const { cwd, journal } = await folderAfterRun();
  edit(journal, sql);
  const { exitCode, asked, stderr } = await runAgain(cwd);
  expect({ exitCode, asked }).toEqual({ exitCode: 1, asked: 0 });
  expect(stderr).toMatch(message);
});

test.each([
  [
    "overwritten",
    (bytes: Buffer) => Buffer.from("x".repeat(bytes.length)),
    /is not a journal\. Move it/,
  ],
  [
    "cut in the middle",
    (bytes: Buffer) => bytes.subarray(0, 5000),
    /is damaged\. Move it away to start a new one/,
  ],
  [
    "overwritten in its pages",
    (bytes: Buffer) => bytes.fill(7, 4096, 9000),
    /is damaged\. Move it/,
  ],
])("a journal that is %s is refused, and nothing is sent", async (_, tear, message) => {
  const { cwd, journal } = await folderAfterRun();
  await writeFile(journal, tear(await readFile(journal)));
  const { exitCode, asked, stderr } = await runAgain(cwd);
  expect({ exitCode, asked }).toEqual({ exitCode: 1, asked: 0 });
  expect(stderr).toMatch(message);
});

test("a journal of a run that was killed while it made it is a new journal", async () => {
  const cwd = await folderWith(tickets);
  edit(join(cwd, "inbox.tickets.sqlite"), "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL");
  expect((await stat(join(cwd, "inbox.tickets.sqlite"))).size).toBeGreaterThan(0);
  expect(await runAgain(cwd)).toMatchObject({ exitCode: 0, asked: 3 });
});

test("an empty file in its place is a new journal", async () => {
  const cwd = await folderWith(tickets);
  await writeFile(join(cwd, "inbox.tickets.sqlite"), "");
  expect(await runAgain(cwd)).toMatchObject({ exitCode: 0, asked: 3 });
});

test("answers of the service are kept as they came", async () => {
  const { cwd } = await folderAfterRun();
  const first = await startTickets(["inbox.json", "--raw"], { cwd });
  const { answers, providerMetadata } = sampleResponse();
  expect(JSON.parse(first.stdout.split("\n")[0] ?? "")).toEqual({
    id: "m-1",
    answers,
    providerMetadata,
  });
});
