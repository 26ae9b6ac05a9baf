import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { readJournal } from "../testing/index.ts";
import { recordingTransport } from "../testing/samples.ts";
import { sampleTicket } from "../testing/tickets/ticket-source.ts";
import { folderWith, startTickets, stoppedClock } from "../testing/tickets/start-tickets.ts";

function ticketsCalled(...ids: string[]) {
  return ids.map((id) => sampleTicket({ id, subject: `About ${id}` }));
}

async function runOn(cwd: string, tickets: readonly object[], day: string, ...words: string[]) {
  await writeFile(join(cwd, "inbox.json"), JSON.stringify(tickets));
  const transport = recordingTransport();
  const clock = { ...stoppedClock, epochNow: () => Date.parse(day) };
  await startTickets(["inbox.json", ...words], { cwd, transport, clock });
  return transport.requests.length;
}

async function read(cwd: string) {
  return await readJournal(join(cwd, "inbox.tickets.sqlite"), (journal) => {
    const ids = [...journal.rows("")].map(({ id }) => id).toSorted();
    const news = journal.newRecords();
    return { ids, news: news && { ...news, ids: [...news.ids] } };
  });
}

test("tickets that no run before had are new, also when it is repeated, until more of them come", async () => {
  const cwd = await folderWith([]);
  expect(await runOn(cwd, ticketsCalled("m-1", "m-2"), "2026-11-02")).toBe(2);
  expect(await read(cwd)).toEqual({ ids: ["m-1", "m-2"], news: null });
  expect(await runOn(cwd, ticketsCalled("m-3", "m-1", "m-2"), "2026-11-09")).toBe(1);
  const news = { ids: ["m-3"], since: "2026-11-02T00:00:00.000Z" };
  expect(await read(cwd)).toEqual({ ids: ["m-1", "m-2", "m-3"], news });
  expect(await runOn(cwd, ticketsCalled("m-3", "m-1", "m-2"), "2026-11-10")).toBe(0);
  expect(await read(cwd)).toEqual({ ids: ["m-1", "m-2", "m-3"], news });
  await runOn(cwd, ticketsCalled("m-4", "m-3"), "2026-11-16");
  expect((await read(cwd)).news).toEqual({ ids: ["m-4"], since: "2026-11-10T00:00:00.000Z" });
});

test("a ticket that is gone leaves the results and not the journal, and is not new when it is back", async () => {
  const cwd = await folderWith([]);
  await runOn(cwd, ticketsCalled("m-1", "m-2"), "2026-11-02");
  await runOn(cwd, ticketsCalled("m-2"), "2026-11-09");
  expect((await read(cwd)).ids).toEqual(["m-2"]);
  expect((await startTickets(["explain", "m-1"], { cwd })).exitCode).toBe(0);
  expect(await runOn(cwd, ticketsCalled("m-1", "m-2"), "2026-11-16")).toBe(0);
  expect(await read(cwd)).toEqual({ ids: ["m-1", "m-2"], news: null });
});

test("a ticket that was new before others came is new no more, in a run without them as in its export", async () => {
  const cwd = await folderWith([]);
  await runOn(cwd, ticketsCalled("m-1"), "2026-11-02");
  await runOn(cwd, ticketsCalled("m-1", "m-2"), "2026-11-03");
  await runOn(cwd, ticketsCalled("m-1", "m-2", "m-3"), "2026-11-04");
  await runOn(cwd, ticketsCalled("m-1", "m-2"), "2026-11-05");
  expect((await read(cwd)).news).toBeNull();
  const exportNew = async (...words: string[]) =>
    (await startTickets(["export", "--only", "new", "--format", "csv", ...words], { cwd })).stdout;
  expect(await exportNew()).not.toContain("\nm-");
  expect(await exportNew("--run", "2")).toMatch(/\nm-2,.*\n$/);
});

test("a run with a limit has the tickets that it took", async () => {
  const cwd = await folderWith([]);
  await runOn(cwd, ticketsCalled("m-1", "m-2"), "2026-11-02");
  await runOn(cwd, ticketsCalled("m-1", "m-2"), "2026-11-03", "--limit", "1");
  expect((await read(cwd)).ids).toEqual(["m-1"]);
});

test("a journal of an older version is brought up to date by a run, and asked about by no reader", async () => {
  const cwd = await folderWith([]);
  await runOn(cwd, ticketsCalled("m-1"), "2026-11-02");
  using database = new DatabaseSync(join(cwd, "inbox.tickets.sqlite"));
  database.exec("DROP TRIGGER keep_earlier; DROP TABLE earlier");
  for (const column of ["seen", "after", "source", "since"]) {
    database.exec(`ALTER TABLE records DROP COLUMN ${column}`);
  }
  database.exec("ALTER TABLE records RENAME TO mails; PRAGMA user_version = 3");
  const { exitCode, stderr } = await startTickets(["status"], { cwd });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("is of an older version; start the run again; nothing is asked twice.");
  expect(await runOn(cwd, ticketsCalled("m-1", "m-2"), "2026-11-09")).toBe(1);
  expect((await read(cwd)).news?.ids).toEqual(["m-2"]);
});
