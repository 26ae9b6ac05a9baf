import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { CHUNK_SIZE } from "./chunk-queue.ts";
import type { RunRecord } from "./load-run.ts";
import type { PostgresRuns } from "./postgres-runs.ts";
import { forgetAll, openPgliteRuns, type PgliteRuns } from "../testing/pglite-runs.ts";
import { answerTo, countedTo, failure, newRun, recordsNamed } from "../testing/sample-runs.ts";

let opened: PgliteRuns;
let runs: PostgresRuns;
const { signal } = new AbortController();

beforeAll(async () => {
  opened = await openPgliteRuns();
  runs = opened.runs;
});
afterAll(() => opened[Symbol.asyncDispose]());
beforeEach(() => forgetAll(opened.database.query));

test("the same input is one run, and runs are numbered from 1", async () => {
  const records = recordsNamed("a", "b");
  expect(await opened.load(records)).toMatchObject({
    run: 1,
    isJoined: false,
    state: "open",
    records: 2,
  });
  expect(await opened.load(records)).toMatchObject({ run: 1, isJoined: true });
  expect(await opened.load(recordsNamed("c"))).toMatchObject({ run: 2, isJoined: false });
  expect(await opened.allRows(1)).toHaveLength(2);
});

test("a process that dies while it loads leaves a run that the next one loads", async () => {
  const records = recordsNamed("a", "b");
  const dying = async function* dying() {
    yield* records.slice(0, 1);
    throw new Error("The file ends here.");
  };
  await expect(runs.join(newRun(records), dying, signal)).rejects.toThrow("The file ends here.");
  expect(await runs.list()).toMatchObject([{ run: 1, state: "loading" }]);
  expect(await opened.load(records)).toMatchObject({ run: 1, isJoined: false, state: "open" });
  expect(await opened.allRows(1)).toMatchObject([{ id: "a" }, { id: "b" }]);
});

test("gives the records back in order, whatever their text is made of", async () => {
  const texts = ["tab\t", "line\nbreak", "back\\slash\\n", "\u0000", "\uD800", "\\N", "", "ä🙂"];
  const records = recordsNamed(...texts);
  await opened.load(records);
  const writer = runs.writer({ run: 1, signal });
  const evaluation = JSON.stringify({ text: texts });
  await writer.keep(answerTo(records[2] as RunRecord, evaluation));
  await writer.keep({ ...failure, idx: 4, error: "Half\ta \\pair" });
  const rows = await opened.allRows(1);
  expect(rows.map(({ id }) => id)).toEqual(texts);
  expect(rows.map(({ state }) => state)).toEqual(records.map(({ state }) => state));
  expect(rows[2]).toMatchObject({ evaluation, isChanged: false, error: null });
  expect(rows[4]).toMatchObject({ evaluation: null, error: "Half\ta \\pair" });
  expect(await runs.find("\u0000")).toMatchObject({ run: 1, idx: 3 });
  expect(await runs.find("nobody")).toBeNull();
});

test("the ids that no whole run of the same name had are new, whatever runs of other names had", async () => {
  await opened.load(recordsNamed("a", "b"));
  await opened.load(recordsNamed("d"), { name: "other.json" });
  const third = await opened.load(recordsNamed("b", "c", "d"));
  expect(await runs.newIds(third)).toBeNull();
  await opened.database.query(
    "update evaluator.runs set state = 'done', finished_at = '2026-11-02' where run < 3",
  );
  expect(await runs.newIds(third)).toEqual({
    ids: new Set(["c", "d"]),
    since: expect.stringMatching(/^2026-11-0/),
  });
});

test("a run is done when every record has its end", async () => {
  const records = countedTo(CHUNK_SIZE + 1);
  await opened.load(records);
  const [first, second] = [await opened.takeChunk(1), await opened.takeChunk(1)];
  expect([first.chunk, second.chunk, await runs.fetchChunk(1)]).toEqual([0, 1, null]);
  const { missing } = await runs.readChunk(second);
  expect(missing).toMatchObject([{ idx: CHUNK_SIZE, id: `m-${CHUNK_SIZE}` }]);
  const writer = runs.writer({ run: 1, signal });
  await runs.reserve(second, 1);
  await writer.keep({ ...failure, idx: CHUNK_SIZE });
  expect(await runs.get(1)).toMatchObject({ answered: 0, failed: 1 });
  expect(await runs.finish(second)).toBe(true);
  expect(await runs.get(1)).toMatchObject({ state: "open", answered: 0, failed: 1 });
  await runs.reserve(first, 1);
  await Promise.all(records.slice(0, CHUNK_SIZE).map((record) => writer.keep(answerTo(record))));
  expect(await runs.finish(first)).toBe(true);
  expect(await runs.get(1)).toMatchObject({
    state: "done",
    answered: CHUNK_SIZE,
    asked: CHUNK_SIZE,
    failed: 1,
    inputTokens: 300 * CHUNK_SIZE,
    costUsd: 0.25 * CHUNK_SIZE,
  });
  expect(await opened.load(records)).toMatchObject({ state: "open", failed: 0 });
  expect([(await opened.takeChunk(1)).chunk, await runs.fetchChunk(1)]).toEqual([1, null]);
});

test("a chunk that is given back holds only what has no end, and an old lease completes nothing", async () => {
  const records = countedTo(3);
  await opened.load(records);
  const old = await opened.takeChunk(1);
  await runs.reserve(old, 1);
  const writer = runs.writer({ run: 1, signal });
  await writer.keep(answerTo(records[0] as RunRecord));
  expect(await runs.finish(old)).toBe(false);
  const again = await opened.takeChunk(1);
  expect(again).toMatchObject({ chunk: 0, lease: { id: old.lease.id } });
  const { missing, costUsd } = await runs.readChunk(again);
  expect([missing.map(({ id }) => id), costUsd]).toEqual([["m-1", "m-2"], 0.25]);
  expect([await runs.touch(old), await runs.touch(again)]).toEqual([false, true]);
  await Promise.all(records.slice(1).map((record) => writer.keep(answerTo(record))));
  // All is there, so the chunk is counted; the job is the other worker's to complete.
  expect(await runs.finish(old)).toBe(true);
  expect(await runs.touch(again)).toBe(true);
  expect(await runs.finish(again)).toBe(true);
  expect(await runs.get(1)).toMatchObject({ state: "done", answered: 3, costUsd: 0.75 });
});

test("what another run has asked is not missing, and costs this one nothing", async () => {
  const records = recordsNamed("a", "b");
  await opened.load(records);
  await runs.writer({ run: 1, signal }).keep(answerTo(records[0] as RunRecord));
  await opened.load(records, { digest: "other" });
  const chunk = await opened.takeChunk(2);
  expect(await runs.readChunk(chunk)).toMatchObject({ missing: [{ id: "b" }], costUsd: 0 });
  await runs.reserve(chunk, 1);
  await runs.writer({ run: 2, signal }).keep(answerTo(records[1] as RunRecord));
  await runs.finish(chunk);
  expect(await runs.get(2)).toMatchObject({ answered: 2, asked: 1, costUsd: 0.25 });
});

test("the chunks of all workers together reserve no more than the run may cost", async () => {
  await opened.load(countedTo(3 * CHUNK_SIZE), { maxCostUsd: 10 });
  const [one, two, three] = [
    await opened.takeChunk(1),
    await opened.takeChunk(1),
    await opened.takeChunk(1),
  ];
  expect([await runs.reserve(one, 6), await runs.reserve(two, 6)]).toEqual([6, 4]);
  expect(await runs.reserve(three, 1)).toBe(0);
  expect(await runs.reserve(one, 5)).toBe(5);
  expect(await runs.reserve(three, 3)).toBe(1);
});

test("what a finished chunk has not used may be spent by others", async () => {
  const records = countedTo(CHUNK_SIZE + 1);
  await opened.load(records, { maxCostUsd: 30 });
  const [one, two] = [await opened.takeChunk(1), await opened.takeChunk(1)];
  expect(await runs.reserve(one, 30)).toBe(30);
  const writer = runs.writer({ run: 1, signal });
  await Promise.all(records.slice(0, CHUNK_SIZE).map((record) => writer.keep(answerTo(record))));
  await runs.finish(one);
  expect(await runs.reserve(two, 30)).toBe(5);
});

test("twenty failures in a row, of all workers, stop the run; an answer between them does not", async () => {
  const records = countedTo(CHUNK_SIZE);
  await opened.load(records);
  const writers = [runs.writer({ run: 1, signal }), runs.writer({ run: 1, signal })];
  const fail = async (idx: number) => await writers[idx % 2]?.keep({ ...failure, idx });
  for (let idx = 0; idx < 19; idx += 1) await fail(idx);
  await writers[0]?.keep(answerTo(records[50] as RunRecord));
  for (let idx = 20; idx < 39; idx += 1) await fail(idx);
  expect(await runs.get(1)).toMatchObject({ state: "open" });
  await fail(39);
  expect(await runs.get(1)).toMatchObject({ state: "stopped", stoppedBy: failure.error });
});

test("a wrong key, seen by one worker, stops the run for all", async () => {
  await opened.load(countedTo(1));
  const report = { worker: "w", run: 1, name: "here", answered: 1, failed: 0 };
  const seen = { ...report, inFlight: 2, perSecond: 3.5 };
  expect(await runs.report(seen)).toEqual({ state: "open", stoppedBy: null });
  const end = { ...failure, idx: 0, error: "The key is wrong.", isFinal: true };
  await runs.writer({ run: 1, signal }).keep(end);
  expect(await runs.report(seen)).toEqual({ state: "stopped", stoppedBy: "The key is wrong." });
  expect(await runs.workers(1)).toMatchObject([{ name: "here", inFlight: 2, perSecond: 3.5 }]);
  await runs.leave("w");
  expect(await runs.workers(1)).toEqual([]);
});

test("the same command opens a run again that has ended without all its answers", async () => {
  const records = countedTo(CHUNK_SIZE + 2);
  await opened.load(records, { maxCostUsd: 1 });
  const [one, two] = [await opened.takeChunk(1), await opened.takeChunk(1)];
  const writer = runs.writer({ run: 1, signal });
  await Promise.all(records.slice(0, CHUNK_SIZE).map((record) => writer.keep(answerTo(record))));
  await runs.reserve(one, 1);
  await runs.finish(one);
  await writer.keep({ ...failure, idx: CHUNK_SIZE });
  await runs.stop(1, "It costs more.");
  const again = {
    state: "open",
    stoppedBy: null,
    answered: CHUNK_SIZE,
    failed: 0,
    maxCostUsd: 100,
  };
  expect(await opened.load(records, { maxCostUsd: 100 })).toMatchObject(again);
  expect(await runs.touch(two)).toBe(false);
  const chunk = await opened.takeChunk(1);
  expect([chunk.chunk, await runs.fetchChunk(1)]).toEqual([1, null]);
  expect((await runs.readChunk(chunk)).missing).toHaveLength(2);
});

test("a run of which all is there stays done, and one without records is done at once", async () => {
  const [record] = recordsNamed("a");
  await opened.load([record as RunRecord]);
  const chunk = await opened.takeChunk(1);
  await runs.reserve(chunk, 1);
  await runs.writer({ run: 1, signal }).keep(answerTo(record as RunRecord));
  await runs.finish(chunk);
  expect(await opened.load([record as RunRecord])).toMatchObject({ state: "done", isJoined: true });
  expect(await opened.load([])).toMatchObject({ run: 2, state: "done" });
});

test("says which run is not there", async () => {
  const message = "There is no run 7 in this database.";
  await expect(runs.get(7)).rejects.toMatchObject({ failure: "no-run", message });
});
