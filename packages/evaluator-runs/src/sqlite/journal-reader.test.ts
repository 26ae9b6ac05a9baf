import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { Journal, readJournal } from "../testing/index.ts";
import { sampleResponse } from "../testing/samples.ts";
import { sampleTicket } from "../testing/tickets/ticket-source.ts";
import { folderWith, startGatewayProgram, startTickets } from "../testing/tickets/start-tickets.ts";

const facts = {
  finishedAt: "2026-11-21T12:00:00Z",
  wire: "w",
  modelId: "m",
  mails: 2,
  answered: 2,
  failed: 0,
  inputTokens: 600,
  costUsd: 0,
  elapsedMs: 0,
};

const tickets = ["m-1", "m-2"].map((id) => sampleTicket({ id, subject: `About ${id}` }));

/** A run in another process that has kept one answer and waits for the second. */
async function runUnderWay(cwd: string) {
  const second = Promise.withResolvers<void>();
  let asked = 0;
  const server = createServer(({ method }, response) => {
    if (method === "POST") asked += 1;
    if (asked < 2) response.end(JSON.stringify(sampleResponse()));
    else second.resolve();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const gatewayBaseUrl = `http://127.0.0.1:${port}/v4/ai`;
  const run = startGatewayProgram(cwd, { gatewayBaseUrl, concurrency: 1 });
  const stop = async () => {
    run.child.kill("SIGKILL");
    await run.ended;
  };
  onTestFinished(async () => {
    await stop();
    server.closeAllConnections();
    server.close();
  });
  const early = run.ended.then(({ stderr }) => {
    throw new Error(`The run ended early: ${stderr}`);
  });
  await Promise.race([second.promise, early]);
  return { stop };
}

/** All files of a folder with their bytes, but for the index that readers of a log share. */
async function contentsOf(folder: string): Promise<[string, string][]> {
  const names = (await readdir(folder)).filter((name) => !name.endsWith("-shm"));
  return await Promise.all(
    names.map(async (name) => [name, await readFile(join(folder, name), "base64")] as const),
  ).then((contents) => contents.map(([name, bytes]) => [name, bytes]));
}

test("explain, export and a dry run read beside a run in another process, and a next run what it left when killed", async () => {
  const cwd = await folderWith(tickets.slice(0, 1));
  await startTickets(["inbox.json"], { cwd });
  await writeFile(join(cwd, "inbox.json"), JSON.stringify(tickets));
  const run = await runUnderWay(cwd);
  const first = await startTickets(["explain", "m-1"], { cwd });
  expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("About m-1") });
  expect(await startTickets(["explain", "m-2"], { cwd })).toMatchObject({
    exitCode: 1,
    stderr: "This ticket has no answer. None has come yet.\n",
  });
  expect(await startTickets(["export"], { cwd })).toMatchObject({ exitCode: 2 });
  expect(await readdir(cwd)).toContain("inbox.tickets.lock");
  // The answer to the first ticket is of this process's engine, that of the run is of another.
  const stdout = expect.stringMatching(/^To ask: 1 ticket, .*; 1 answered already\.\n/);
  const dry = await startTickets(["inbox.json", "--dry-run"], { cwd });
  expect(dry).toMatchObject({ exitCode: 0, stdout });
  await run.stop();
  expect(await startTickets(["explain", "m-1"], { cwd })).toMatchObject({ exitCode: 0 });
  const { exitCode, stderr } = await startTickets(["inbox.json"], { cwd });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  expect(await readdir(cwd)).toEqual(["inbox.json", "inbox.tickets.json", "inbox.tickets.sqlite"]);
});

test("explain and export change nothing", async () => {
  const cwd = await folderWith(tickets);
  await startTickets(["inbox.json"], { cwd });
  const before = await contentsOf(cwd);
  expect(await startTickets(["explain", "m-1"], { cwd })).toMatchObject({ exitCode: 0 });
  expect(await startTickets(["export"], { cwd })).toMatchObject({ exitCode: 0 });
  expect(await contentsOf(cwd)).toEqual(before);
  expect(before.map(([name]) => name)).toEqual([
    "inbox.json",
    "inbox.tickets.json",
    "inbox.tickets.sqlite",
  ]);
});

function otherDatabase(path: string): void {
  using database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE notes (note TEXT)");
}

test.each<[string, (path: string) => Promise<void>, string]>([
  ["an empty file", (path) => writeFile(path, ""), "is empty; start a run about its input first."],
  ["a text", (path) => writeFile(path, "Dear diary, ".repeat(1000)), "is not a journal. Move it"],
  [
    "another program's database",
    async (path) => otherDatabase(path),
    "is not a journal of this program",
  ],
])("%s in the journal's place is refused, and stays as it is", async (_, write, problem) => {
  const cwd = await folderWith(tickets);
  await startTickets(["inbox.json", "--format", "ndjson"], { cwd });
  const path = join(cwd, "inbox.tickets.sqlite");
  await writeFile(path, ""); // another database is made in the empty file
  await write(path);
  const before = await contentsOf(cwd);
  for (const words of [
    ["explain", "m-1"],
    ["export", "inbox.json"],
  ]) {
    const { exitCode, stderr } = await startTickets(words, { cwd });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringContaining(problem),
    });
  }
  expect(await contentsOf(cwd)).toEqual(before);
});

test("a journal that a run wrote meanwhile is read again", async () => {
  const cwd = await folderWith(tickets);
  await startTickets(["inbox.json"], { cwd });
  const path = join(cwd, "inbox.tickets.sqlite");
  let reads = 0;
  const runs = await readJournal(path, (journal) => {
    reads += 1;
    if (reads === 1) {
      using writer = Journal.open(path, { questions: {}, service: { address: "w", modelId: "m" } });
      writer.addRun({ ...facts, answered: 7 });
    }
    return journal.completeRuns();
  });
  expect(reads).toBe(2);
  expect(runs.map(({ facts: { answered } }) => answered)).toEqual([2, 7]);
});

test.each([
  ["answer", "evaluation = replace(evaluation, '0.12', '0.99')"],
  ["state", "state = replace(state, 'About', 'Above')"],
])("explain shows no answer when the %s is not as it was written", async (_, change) => {
  const cwd = await folderWith(tickets);
  await startTickets(["inbox.json"], { cwd });
  using database = new DatabaseSync(join(cwd, "inbox.tickets.sqlite"));
  database.exec(`UPDATE answers SET ${change}`);
  const { stdout } = await startTickets(["explain", "m-1"], { cwd });
  expect(stdout).toContain("answer  missing; start the run again\n");
  expect(stdout).not.toContain("0.99");
});
