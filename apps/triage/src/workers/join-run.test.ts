import { afterAll, beforeAll, expect, test } from "vitest";
import { recordingTransport, sampleMail, sampleResponse } from "../testing/samples.ts";
import { runsOnPglite, type RunsOnPglite } from "../testing/runs-on-pglite.ts";
import { folderWith, startTriage } from "../testing/start-triage.ts";

const env = { TRIAGE_JOURNAL: "postgres://ada:secret@db.example.com/triage" };
let pglite: RunsOnPglite;

beforeAll(async () => {
  pglite = await runsOnPglite();
});
afterAll(() => pglite.database.close());

/** Returns how many rows of answers the database has read. */
async function answersRead(): Promise<number> {
  const rows = await pglite.database.query<{ count?: number }>(
    `select from pg_stat_force_next_flush();
     select (seq_tup_read + idx_tup_fetch)::float8 as count from pg_stat_user_tables
     where relid = 'evaluator.answers'::regclass`,
  );
  return rows.at(-1)?.count ?? Number.NaN;
}

test("a run that is joined is not planned again: before its first call it reads no finished chunk", async () => {
  const mails = Array.from({ length: 600 }, (_, index) => sampleMail({ id: `m-${index}` }));
  const cwd = await folderWith(mails);
  const words = ["inbox.json", "--concurrency", "10"];
  const given = { env, openRuns: pglite.openRuns, cwd };
  const controller = new AbortController();
  const { signal } = controller;
  const interrupted = recordingTransport((index) => {
    if (index === 450) controller.abort(new Error("enough"));
    return sampleResponse();
  });
  await startTriage(words, { ...given, transport: interrupted, signal });
  await answersRead(); // the counts of the run above are written after this
  const readBefore = await answersRead();
  let read = Promise.resolve(Number.NaN);
  const transport = recordingTransport((index) => {
    if (index === 0) read = answersRead();
    return sampleResponse();
  });
  expect(await startTriage(words, { ...given, transport })).toMatchObject({ exitCode: 0 });
  expect(interrupted.requests.length + transport.requests.length).toBe(600);
  expect((await read) - readBefore).toBeLessThan(300);
});
