import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { queueSchema } from "./chunk-queue.ts";
import type { RunRecord } from "./load-run.ts";
import { type NewRun, PostgresRuns } from "./postgres-runs.ts";
import type { RunRow } from "./run-rows.ts";
import { answerTo, keyOf, newRun, recordsNamed } from "./testing/sample-runs.ts";
import { openPglite, type PgliteDatabase } from "./testing/pglite-database.ts";

let database: PgliteDatabase;
let runs: PostgresRuns;
const { signal } = new AbortController();

beforeAll(async () => {
  database = await openPglite();
  runs = await PostgresRuns.open(database);
});
afterAll(() => runs[Symbol.asyncDispose]());
beforeEach(async () => {
  await database.query(
    `truncate evaluator.runs, evaluator.setups, evaluator.records, evaluator.answers,
       evaluator.failures, evaluator.chunks, evaluator.workers; delete from ${queueSchema}.job`,
  );
});

async function load(records: readonly RunRecord[], fields: Partial<NewRun> = {}) {
  return await runs.join(newRun(records, fields), () => ReadableStream.from(records), signal);
}

async function allRows(run: number): Promise<RunRow[]> {
  const rows: RunRow[] = [];
  for await (const row of runs.rows(run)) rows.push(row);
  return rows;
}

async function takeChunk(run: number) {
  const chunk = await runs.fetchChunk(run);
  if (chunk === null) throw new Error("There is no chunk.");
  return chunk;
}

test("of two answers to the same call the first is kept", async () => {
  const [record] = recordsNamed("a");
  await load([record as RunRecord]);
  const writer = runs.writer({ run: 1, signal });
  await writer.keep(answerTo(record as RunRecord, "1"));
  await writer.keep(answerTo(record as RunRecord, "2"));
  expect(await allRows(1)).toMatchObject([{ evaluation: "1" }]);
});

test("an answer that somebody changed is no answer, and is asked for again", async () => {
  const records = recordsNamed("a", "b", "c");
  await load(records);
  const writer = runs.writer({ run: 1, signal });
  await Promise.all(records.map((record) => writer.keep(answerTo(record))));
  await database.query("update evaluator.answers set evaluation = '1' where key = $1", [
    keyOf("b"),
  ]);
  await database.query("update evaluator.records set state = '1' where id = '\"c\"'");
  const keys = [...records.map(({ key }) => key), "no key"];
  expect(await runs.statusesOf(keys)).toEqual(["answered", "changed", "answered", "unknown"]);
  const rows = await allRows(1);
  expect(rows.map(({ isChanged }) => isChanged)).toEqual([false, true, true]);
  expect(rows[1]?.evaluation).toBeNull();
  const { missing } = await runs.readChunk(await takeChunk(1));
  expect(missing.map(({ id }) => id)).toEqual(["b", "c"]);
  expect(await runs.statusesOf([keyOf("b")])).toEqual(["unknown"]);
});

test("of answers to the same call that come at once one is kept, and each is told of", async () => {
  const [record] = recordsNamed("a");
  await load([record as RunRecord]);
  const writer = runs.writer({ run: 1, signal });
  const texts = ['{"answer":1}', '{"answer":2}'];
  await Promise.all(texts.map((text) => writer.keep(answerTo(record as RunRecord, text))));
  const [row] = await allRows(1);
  expect(texts).toContain(row?.evaluation);
});

test("an answer is kept as what differs from the first one, and read by every run as it was", async () => {
  const records = recordsNamed("a", "b", "c");
  const answers = ['{"choice":"one","by":"m"}', '{"choice":"two","by":"m"}', '{"other":[]}'];
  await load(records);
  const writer = runs.writer({ run: 1, signal });
  for (const [at, record] of records.entries()) await writer.keep(answerTo(record, answers[at]));
  const kept = await database.query("select evaluation from evaluator.answers order by ctid");
  expect(kept).toEqual(["", '3~1 two"', '{"other":[]}'].map((evaluation) => ({ evaluation })));
  await database.query("select evaluator.forget_run(1)");
  await load(records, { digest: "other" });
  const [other] = await runs.list();
  const rows = await allRows(other?.run ?? 0);
  expect(rows.map(({ evaluation }) => evaluation)).toEqual(answers);
  await database.query("update evaluator.setups set sample = replace(sample, 'm', 'n')");
  expect((await allRows(other?.run ?? 0)).map(({ isChanged }) => isChanged)).toEqual([
    true,
    true,
    false,
  ]);
});
