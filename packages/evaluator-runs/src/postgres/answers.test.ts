import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { RunRecord } from "./load-run.ts";
import type { PostgresRuns } from "./postgres-runs.ts";
import { forgetAll, openPgliteRuns, type PgliteRuns } from "../testing/pglite-runs.ts";
import { answerTo, keyOf, recordsNamed } from "../testing/sample-runs.ts";

let opened: PgliteRuns;
let runs: PostgresRuns;
const { signal } = new AbortController();

beforeAll(async () => {
  opened = await openPgliteRuns();
  runs = opened.runs;
});
afterAll(() => opened[Symbol.asyncDispose]());
beforeEach(() => forgetAll(opened.database.query));

test("of two answers to the same call the first is kept", async () => {
  const [record] = recordsNamed("a");
  await opened.load([record as RunRecord]);
  const writer = runs.writer({ run: 1, signal });
  await writer.keep(answerTo(record as RunRecord, "1"));
  await writer.keep(answerTo(record as RunRecord, "2"));
  expect(await opened.allRows(1)).toMatchObject([{ evaluation: "1" }]);
});

test("an answer that somebody changed is no answer, and is asked for again", async () => {
  const records = recordsNamed("a", "b", "c");
  await opened.load(records);
  const writer = runs.writer({ run: 1, signal });
  await Promise.all(records.map((record) => writer.keep(answerTo(record))));
  await opened.database.query("update evaluator.answers set evaluation = '1' where key = $1", [
    keyOf("b"),
  ]);
  await opened.database.query("update evaluator.records set state = '1' where id = '\"c\"'");
  const keys = [...records.map(({ key }) => key), "no key"];
  expect(await runs.statusesOf(keys)).toEqual(["answered", "changed", "answered", "unknown"]);
  const rows = await opened.allRows(1);
  expect(rows.map(({ isChanged }) => isChanged)).toEqual([false, true, true]);
  expect(rows[1]?.evaluation).toBeNull();
  const { missing } = await runs.readChunk(await opened.takeChunk(1));
  expect(missing.map(({ id }) => id)).toEqual(["b", "c"]);
  expect(await runs.statusesOf([keyOf("b")])).toEqual(["unknown"]);
});

test("a record whose state somebody changed is not asked about as something else", async () => {
  await opened.load(recordsNamed("a", "b"));
  await opened.database.query("update evaluator.records set state = '~zz' where idx = 1");
  const chunk = await opened.takeChunk(1);
  await expect(runs.readChunk(chunk)).rejects.toThrow("Record 1 of run 1 is not as it was written");
});

test("of answers to the same call that come at once one is kept, and each is reported", async () => {
  const [record] = recordsNamed("a");
  await opened.load([record as RunRecord]);
  const writer = runs.writer({ run: 1, signal });
  const texts = ['{"answer":1}', '{"answer":2}'];
  await Promise.all(texts.map((text) => writer.keep(answerTo(record as RunRecord, text))));
  const [row] = await opened.allRows(1);
  expect(texts).toContain(row?.evaluation);
});

test("an answer is kept as what differs from the first one, and read by every run as it was", async () => {
  const records = recordsNamed("a", "b", "c");
  const answers = ['{"choice":"one","by":"m"}', '{"choice":"two","by":"m"}', '{"other":[]}'];
  await opened.load(records);
  const writer = runs.writer({ run: 1, signal });
  for (const [at, record] of records.entries()) await writer.keep(answerTo(record, answers[at]));
  const kept = await opened.database.query(
    "select evaluation from evaluator.answers order by ctid",
  );
  expect(kept).toEqual(["", '31two"', '{"other":[]}'].map((evaluation) => ({ evaluation })));
  await opened.database.query("select evaluator.forget_run(1)");
  await opened.load(records, { digest: "other" });
  const [other] = await runs.list();
  const rows = await opened.allRows(other?.run ?? 0);
  expect(rows.map(({ evaluation }) => evaluation)).toEqual(answers);
  await opened.database.query("update evaluator.setups set sample = replace(sample, 'm', 'n')");
  expect((await opened.allRows(other?.run ?? 0)).map(({ isChanged }) => isChanged)).toEqual([
    true,
    true,
    false,
  ]);
});
