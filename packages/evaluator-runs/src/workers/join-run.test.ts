import { expect, test } from "vitest";
import { recordingTransport, sampleResponse } from "../testing/samples.ts";
import { sampleTicket } from "../testing/tickets/ticket-source.ts";
import { folderWith, ticketMachines } from "../testing/tickets/start-tickets.ts";

const { database, start } = ticketMachines();

/** Returns how many rows of answers the database has read. */
async function answersRead(): Promise<number> {
  const rows = await database().query<{ count?: number }>(
    `select from pg_stat_force_next_flush();
     select (seq_tup_read + idx_tup_fetch)::float8 as count from pg_stat_user_tables
     where relid = 'evaluator.answers'::regclass`,
  );
  return rows.at(-1)?.count ?? Number.NaN;
}

test("a run that is joined is not planned again: before its first call it reads no finished chunk", async () => {
  const tickets = Array.from({ length: 600 }, (_, index) => sampleTicket({ id: `m-${index}` }));
  const cwd = await folderWith(tickets);
  const words = ["inbox.json", "--concurrency", "10"];
  const controller = new AbortController();
  const { signal } = controller;
  const interrupted = recordingTransport((index) => {
    if (index === 450) controller.abort(new Error("enough"));
    return sampleResponse();
  });
  await start(words, { cwd, transport: interrupted, signal });
  await answersRead(); // the counts of the run above are written after this
  const readBefore = await answersRead();
  let read = Promise.resolve(Number.NaN);
  const transport = recordingTransport((index) => {
    if (index === 0) read = answersRead();
    return sampleResponse();
  });
  expect(await start(words, { cwd, transport })).toMatchObject({ exitCode: 0 });
  expect(interrupted.requests.length + transport.requests.length).toBe(600);
  expect((await read) - readBefore).toBeLessThan(300);
});
