import { afterAll, beforeAll, expect, test } from "vitest";
import { forgetAll, openPgliteRuns, type PgliteRuns } from "../testing/pglite-runs.ts";
import { answerTo, countedTo, type SampleRecord } from "../testing/sample-runs.ts";
import { CHUNK_SIZE } from "../store/run-store.ts";
import { migrateDatabase } from "./schema.ts";

let opened: PgliteRuns;
beforeAll(async () => void (opened = await openPgliteRuns()));
afterAll(() => opened[Symbol.asyncDispose]());

/** Makes the tables of version 7, in which a lease of a chunk was not noted. */
async function downgrade(): Promise<void> {
  const { query } = opened.database;
  await query("drop function evaluator.reserve_chunk, evaluator.finish_chunk");
  const columns = "drop column uncounted_usd, drop column is_unpriced";
  await query(`alter table evaluator.chunks drop column lease, ${columns}`);
  await query(`alter table evaluator.runs ${columns}`);
  await query("alter table evaluator.answers alter column cost_usd set not null");
  await query("update evaluator.schema_version set version = 7");
}

test("a run that workers of the version before began is upgraded with its cost, and goes on within its cap", async () => {
  const { database, runs } = opened;
  const records = countedTo(2 * CHUNK_SIZE);
  await opened.load(records, { maxCostUsd: 100 });
  const writer = runs.writer({ run: 1, signal: new AbortController().signal });
  const [first, ...others] = records.slice(0, CHUNK_SIZE).map((record) => answerTo(record));
  await Promise.all(others.map((end) => writer.keep(end)));
  await downgrade();
  await database.query("insert into evaluator.chunks (run, chunk, reserved_usd) values (1, 0, 60)");
  await migrateDatabase(database);
  expect(await runs.get(1)).toMatchObject({ answered: 99, costUsd: 24.75, uncountedUsd: 0 });
  // All that a worker of that version reserved may be spent.
  const [one, two] = [await opened.takeChunk(1), await opened.takeChunk(1)];
  expect(await runs.get(1)).toMatchObject({ costUsd: 24.75, uncountedUsd: expect.closeTo(35.25) });
  expect(await runs.reserve(two, 100)).toBe(40);
  const old = { ...two, lease: { ...two.lease, retryCount: two.lease.retryCount - 1 } };
  expect(await runs.reserve(old, 1)).toBeNull();
  // Who joins without a maximum leaves that of the run.
  expect(await opened.load(records)).toMatchObject({ maxCostUsd: 100 });
  await writer.keep(first as NonNullable<typeof first>);
  expect(await runs.finish(one, 26)).toBe(true);
  expect(await runs.get(1)).toMatchObject({ costUsd: 25, uncountedUsd: expect.closeTo(35.25) });
  expect(await runs.reserve(two, 100)).toBeCloseTo(39.75);
  await writer.keep(answerTo(records[CHUNK_SIZE] as SampleRecord));
  expect(await runs.get(1)).toMatchObject({ answered: 101, costUsd: 25.25 });
});

test("what answers cost that somebody removed stays spent when their run is opened again", async () => {
  const { database, runs } = opened;
  await forgetAll(database.query);
  const records = countedTo(CHUNK_SIZE);
  await opened.load(records, { maxCostUsd: 30 });
  const writer = runs.writer({ run: 1, signal: new AbortController().signal });
  await Promise.all(records.map((record) => writer.keep(answerTo(record))));
  expect(await runs.finish(await opened.takeChunk(1), 25)).toBe(true);
  await database.query("delete from evaluator.answers where key = any($1)", [
    records.slice(0, 40).map(({ key }) => key),
  ]);
  // It is opened twice, before and after a worker has it.
  await runs.reopen(1, [0]);
  const again = await opened.takeChunk(1);
  expect(await runs.get(1)).toMatchObject({ costUsd: 15, uncountedUsd: expect.closeTo(10) });
  expect(await runs.reserve(again, 100)).toBe(30);
  await runs.stop(1, "It is late.");
  await database.query(
    "update evaluator.chunks set lease = null, uncounted_usd = 0, reserved_usd = 25",
  );
  await runs.reopen(1, []);
  const { costUsd } = await runs.readChunk(await opened.takeChunk(1));
  expect(costUsd).toBeCloseTo(25);
});
