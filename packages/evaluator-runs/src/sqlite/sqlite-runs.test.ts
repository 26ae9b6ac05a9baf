import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { Journal } from "../testing/index.ts";
import { recordingTransport, sampleResponse, sampleSetup } from "../testing/samples.ts";
import { sampleTicket } from "../testing/tickets/ticket-source.ts";
import { folderWith, startTickets } from "../testing/tickets/start-tickets.ts";

const tickets = ["m-1", "m-2", "m-3", "m-4"].map((id) => sampleTicket({ id, subject: `=${id}` }));

test("each run of a file stays as it was, and --run names one of them", async () => {
  const cwd = await folderWith(tickets);
  const transport = recordingTransport((index) => (index === 1 ? {} : sampleResponse()));
  await startTickets(["inbox.json"], { cwd, transport });
  const results = async () => await readFile(join(cwd, "inbox.tickets.json"), "utf8");
  const written = [await results()];
  const [first, , ...others] = tickets;
  const added = sampleTicket({ id: "m-5", subject: "Added" });
  await writeFile(join(cwd, "inbox.json"), JSON.stringify([{ ...first, subject: "New" }, added]));
  await startTickets(["inbox.json"], { cwd });
  written.push(await results());
  await writeFile(join(cwd, "inbox.json"), JSON.stringify(others));
  await startTickets(["inbox.json"], { cwd });
  written.push(await results());
  const printed = async (...words: string[]) => (await startTickets(words, { cwd })).stdout;
  const byId = (text: string) => {
    const records = JSON.parse(text) as { readonly id: string }[];
    return new Map<string, object>(records.map((record) => [record.id, record]));
  };
  const records = byId(written[0] ?? "");
  // The failed ticket is not in the input any more, and the journal keeps no state without an answer.
  const failed = { ...records.get("m-2"), date: null, from: null, subject: null };
  expect(byId(await printed("export", "--run", "1"))).toEqual(
    new Map([...records, ["m-2", failed]]),
  );
  expect(await printed("export", "--run", "2")).toEqual(written[1]);
  expect(await printed("export", "--run", "3")).toEqual(written[2]);
  expect(await printed("export", "--run", "2", "--only", "new", "--format", "csv")).toMatch(
    /^id,.*\nm-5,.*\n$/,
  );
  const subjects = "select subject from tickets order by subject";
  expect(await printed("query", subjects, "--run", "2")).toBe("subject\nAdded\nNew\n");
  expect(await printed("explain", "m-1", "--run", "1")).toContain("=m-1");
  expect(await printed("explain", "m-1")).toContain("New");
  expect(await printed("explain", "m-1", "--run", "3")).toBe("");
  expect(await printed("status", "--run", "1")).toMatch(/\n1 +done +3 +4 +1 +\$\S+ +inbox.json\n$/);
  const over = await startTickets(["work", "--run", "1"], { cwd });
  expect(over.stderr).toMatch(/is over; work goes on with the newest, 3\.$/m);
});

test("an earlier run keeps where its records came from", async () => {
  const cwd = await folderWith([]);
  const path = join(cwd, "inbox.tickets.sqlite");
  using journal = Journal.open(path, sampleSetup);
  const counts = { mails: 1, answered: 0, failed: 0, inputTokens: 0, costUsd: 0, elapsedMs: 1 };
  for (const note of ['{"row":1}', '{"row":2}', '{"row":2}']) {
    journal.noteRecords([{ id: "m-1", key: "k", note }]);
    journal.addRun({ finishedAt: "2026-11-29T12:00:00Z", wire: "w", modelId: "m", ...counts });
  }
  const notes = [1, 2, 3].map((run) => journal.ofRun(run).row("m-1")?.note);
  expect(notes).toEqual(['{"row":1}', '{"row":2}', '{"row":2}']);
  using database = new DatabaseSync(path, { readOnly: true });
  expect(database.prepare("SELECT id, since FROM earlier").all()).toEqual([
    { id: "m-1", since: 1 },
  ]);
});

test("the newest run has its own records, whatever others have noted", async () => {
  const cwd = await folderWith(tickets);
  await startTickets(["inbox.json"], { cwd });
  const count = async () =>
    (await startTickets(["query", "select count(*) as n from tickets"], { cwd })).stdout;
  const journal = Journal.open(join(cwd, "inbox.tickets.sqlite"), sampleSetup);
  journal.noteRecords([{ id: "m-1", key: "of a run that has not begun" }]);
  expect(await count()).toBe("n\n4\n");
  expect((await startTickets(["export"], { cwd })).exitCode).toBe(0);
  journal[Symbol.dispose]();
  await writeFile(join(cwd, "inbox.json"), "[]");
  await startTickets(["inbox.json"], { cwd });
  expect(await count()).toBe("n\n0\n");
});

test("a run names and reads the input that it was about, of two that share a journal", async () => {
  const cwd = await folderWith(tickets);
  await writeFile(join(cwd, "inbox.csv"), "id,subject\nc-1,In a table\n");
  await startTickets(["inbox.csv"], { cwd });
  await startTickets(["inbox.json"], { cwd });
  const printed = async (...words: string[]) => (await startTickets(words, { cwd })).stdout;
  expect(await printed("query", "select name from runs")).toBe("name\ninbox.csv\ninbox.json\n");
  expect(JSON.parse(await printed("export"))).toMatchObject(tickets.map(({ id }) => ({ id })));
  expect(JSON.parse(await printed("export", "--run", "1"))).toMatchObject([{ id: "c-1" }]);
});

test("the status of an interrupted run is counted", async () => {
  const cwd = await folderWith(tickets);
  const interruption = new AbortController();
  const transport = recordingTransport((index) => {
    if (index === 1) interruption.abort();
    return sampleResponse();
  });
  const words = ["inbox.json", "--concurrency", "1"];
  await startTickets(words, { cwd, transport, signal: interruption.signal });
  const { stdout } = await startTickets(["status", "--run", "1"], { cwd });
  expect(stdout).toMatch(/\n1 +open +2 +4 +0 +\$0\.000025 +inbox\.json\n/);
});
