import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Sample } from "./packed-text.ts";
import type { PostgresRuns } from "./postgres-runs.ts";
import { forgetAll, openPgliteRuns, type PgliteRuns } from "../testing/pglite-runs.ts";
import { answerTo, recordsNamed } from "../testing/sample-runs.ts";

let opened: PgliteRuns;
let runs: PostgresRuns;
const { signal } = new AbortController();

beforeAll(async () => {
  opened = await openPgliteRuns();
  runs = opened.runs;
});
afterAll(() => opened[Symbol.asyncDispose]());
beforeEach(() => forgetAll(opened.database.query));

test("a record whose state somebody changed is not asked about as something else", async () => {
  await opened.load(recordsNamed("a", "b"));
  await opened.database.query("update evaluator.records set state = '~zz' where idx = 1");
  await expect(opened.takeChunk(1)).rejects.toThrow("Record 1 of run 1 is not as it was written");
});

test("a run whose states and notes an earlier version stored as differences is asked and read on", async () => {
  const note = JSON.stringify({ received: "2026-11-02T00:00:00Z" });
  const records = recordsNamed("a long name, once", "a long name, twice").map((record) =>
    Object.assign(record, { note }),
  );
  await opened.load(records);
  const first = JSON.stringify({ about: "a long name, once" });
  const packed = `~${new Sample(first).pack(records[1]?.state ?? "") ?? ""}`;
  const packedNote = `~${new Sample(note).pack(note) ?? ""}`;
  await opened.database.query("update evaluator.runs set state_sample = $1, note_sample = $2", [
    first,
    note,
  ]);
  await opened.database.query("update evaluator.records set state = $1, note = $2 where idx = 1", [
    packed,
    packedNote,
  ]);
  const chunk = await runs.readChunk(await opened.takeChunk(1));
  expect(chunk.missing.map(({ state }) => state)).toEqual(records.map(({ state }) => state));
  const rows = await opened.allRows(1);
  expect(rows.map(({ state, note }) => [state, note])).toEqual(
    records.map(({ state, note }) => [state, note]),
  );
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
