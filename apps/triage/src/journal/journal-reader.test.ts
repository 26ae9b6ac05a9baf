import { once } from "node:events";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { Journal, readJournal } from "evaluator-runs/testing";
import { sampleMail, sampleResponse } from "../testing/samples.ts";
import { startProgram } from "../testing/start-program.ts";
import { folderWith, startTriage } from "../testing/start-triage.ts";

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

const mails = ["m-1", "m-2"].map((id) => sampleMail({ id, subject: `About ${id}` }));

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
  const run = startProgram(cwd, { gatewayBaseUrl, concurrency: 1 });
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

test("explain, report and a dry run read beside a run in another process, and a next run what it left when killed", async () => {
  const cwd = await folderWith(mails.slice(0, 1));
  await startTriage(["inbox.json"], { cwd });
  await writeFile(join(cwd, "inbox.json"), JSON.stringify(mails));
  const run = await runUnderWay(cwd);
  const first = await startTriage(["explain", "m-1"], { cwd });
  expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("About m-1") });
  expect(await startTriage(["explain", "m-2"], { cwd })).toMatchObject({
    exitCode: 1,
    stderr: "There is no answer about this mail. None has come yet.\n",
  });
  expect(await startTriage(["report", "inbox.json"], { cwd })).toMatchObject({ exitCode: 0 });
  expect(await readdir(cwd)).toContain("inbox.triage.lock");
  // The answer to the first mail is of this process's engine, that of the run is of another.
  const stdout = expect.stringMatching(/^To ask: 1 mail, .*; 1 answered already\.\n/);
  const dry = await startTriage(["inbox.json", "--dry-run"], { cwd });
  expect(dry).toMatchObject({ exitCode: 0, stdout });
  await run.stop();
  expect(await startTriage(["explain", "m-1"], { cwd })).toMatchObject({ exitCode: 0 });
  await rm(join(cwd, "inbox.triage.html"));
  const { exitCode, stderr } = await startTriage(["inbox.json"], { cwd });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  expect(await readdir(cwd)).toEqual(["inbox.json", "inbox.triage.json", "inbox.triage.sqlite"]);
});

test("explain and report change nothing", async () => {
  const cwd = await folderWith(mails);
  await startTriage(["inbox.json"], { cwd });
  await startTriage(["report", "inbox.json"], { cwd });
  const before = await contentsOf(cwd);
  expect(await startTriage(["explain", "m-1"], { cwd })).toMatchObject({ exitCode: 0 });
  expect(await startTriage(["report", "inbox.json"], { cwd })).toMatchObject({ exitCode: 0 });
  expect(await contentsOf(cwd)).toEqual(before);
  expect(before.map(([name]) => name)).toEqual([
    "inbox.json",
    "inbox.triage.html",
    "inbox.triage.json",
    "inbox.triage.sqlite",
  ]);
});

function otherDatabase(path: string): void {
  using database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE notes (note TEXT)");
}

test.each([
  ["an empty file", (path: string) => writeFile(path, "")],
  ["a text", (path: string) => writeFile(path, "Dear diary, ".repeat(1000))],
  ["another program's database", async (path: string) => otherDatabase(path)],
])("%s in the journal's place is refused, and stays as it is", async (_, write) => {
  const cwd = await folderWith(mails);
  await startTriage(["inbox.json", "--format", "ndjson"], { cwd });
  const path = join(cwd, "inbox.triage.sqlite");
  await writeFile(path, ""); // another database is made in the empty file
  await write(path);
  const before = await contentsOf(cwd);
  for (const words of [
    ["explain", "m-1"],
    ["report", "inbox.json"],
  ]) {
    const { exitCode, stderr } = await startTriage(words, { cwd });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(/is not a journal/),
    });
  }
  expect(await contentsOf(cwd)).toEqual(before);
});

test("a journal that a run wrote meanwhile is read again", async () => {
  const cwd = await folderWith(mails);
  await startTriage(["inbox.json"], { cwd });
  const path = join(cwd, "inbox.triage.sqlite");
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
  const cwd = await folderWith(mails);
  await startTriage(["inbox.json"], { cwd });
  using database = new DatabaseSync(join(cwd, "inbox.triage.sqlite"));
  database.exec(`UPDATE answers SET ${change}`);
  const { stdout } = await startTriage(["explain", "m-1"], { cwd });
  expect(stdout).toContain("answer  missing; start the run again\n");
  expect(stdout).not.toContain("0.99");
});
