import { beforeEach, expect, test } from "vitest";
import { CHUNK_SIZE, type RunRecord, type RunStore } from "../../store/run-store.ts";
import { answerTo, countedTo, failure, newRun, recordsNamed } from "../sample-runs.ts";
import {
  allRows,
  answerAll,
  load,
  signal,
  type StoreUnderTest,
  takeChunk,
} from "./store-under-test.ts";

/** How runs are loaded, joined, ended and opened again. */
export function testRuns(open: () => Promise<StoreUnderTest>): void {
  let store: StoreUnderTest;
  let runs: RunStore;
  beforeEach(async () => {
    store = await open();
    ({ runs } = store);
  });

  test("the same input is one run, and runs are numbered from 1", async () => {
    const records = recordsNamed("a", "b");
    expect(await load(runs, records)).toMatchObject({
      run: 1,
      isJoined: false,
      state: "open",
      records: 2,
    });
    expect(await load(runs, records)).toMatchObject({ run: 1, isJoined: true });
    expect(await load(runs, recordsNamed("c"))).toMatchObject({ run: 2, isJoined: false });
    expect(await allRows(runs, 1)).toHaveLength(2);
  });

  test("what the creator noted stays when others join, and each answer is that of the run that asked for it", async () => {
    const facts = JSON.stringify({ engines: [{ name: "one", usdPerMillionTokens: null }] });
    await load(runs, recordsNamed("a"), { facts });
    await answerAll(runs, 1);
    await load(runs, recordsNamed("a", "b"));
    expect(await load(runs, recordsNamed("a"))).toMatchObject({ isJoined: true, facts });
    await answerAll(runs, 2);
    const own = async (run: number) => (await allRows(runs, run)).map(({ isOwn }) => isOwn);
    expect([await own(1), await own(2)]).toEqual([[true], [false, true]]);
  });

  test("sessions that join one run at once load it once, and share its chunks", async () => {
    const sessions = [runs, await store.openSession(), await store.openSession()];
    const records = countedTo(2 * CHUNK_SIZE + 50);
    const infos = await Promise.all(sessions.map((session) => load(session, records)));
    expect(infos.filter(({ isJoined }) => !isJoined)).toHaveLength(1);
    expect(new Set(infos.map(({ run }) => run))).toEqual(new Set([1]));
    const leased = await Promise.all(sessions.map((session) => session.fetchChunk(1)));
    expect(new Set(leased.map((chunk) => chunk?.chunk))).toEqual(new Set([0, 1, 2]));
  });

  test("a process that dies while it loads leaves a run that the next one loads", async () => {
    const records = recordsNamed("a", "b");
    const dying = async function* dying() {
      yield* records.slice(0, 1);
      throw new Error("The file ends here.");
    };
    await expect(runs.join(newRun(records), dying, signal)).rejects.toThrow("The file ends here.");
    expect(await runs.list()).toMatchObject([{ run: 1, state: "loading" }]);
    expect(await load(runs, records)).toMatchObject({ run: 1, isJoined: false, state: "open" });
    expect(await allRows(runs, 1)).toMatchObject([{ id: "a" }, { id: "b" }]);
  });

  test("only an open run is stopped, and the first reason stays", async () => {
    const records = recordsNamed("a");
    const gone = new ReadableStream<RunRecord>({
      pull(controller) {
        controller.error(new Error("The file is gone."));
      },
    });
    const joining = runs.join(newRun(records), () => gone, signal);
    await expect(joining).rejects.toThrow("The file is gone.");
    await runs.stop(1, "It is early.");
    expect(await runs.get(1)).toMatchObject({ state: "loading", stoppedBy: null });
    await load(runs, records);
    await runs.stop(1, "It costs more.");
    await runs.stop(1, "It costs much more.");
    expect(await runs.get(1)).toMatchObject({ state: "stopped", stoppedBy: "It costs more." });
  });

  test("a run is done when every record has its end", async () => {
    const records = countedTo(CHUNK_SIZE + 1);
    await load(runs, records);
    const [first, second] = [await takeChunk(runs, 1), await takeChunk(runs, 1)];
    expect([first.chunk, second.chunk, await runs.fetchChunk(1)]).toEqual([0, 1, null]);
    const { missing } = await runs.readChunk(second);
    expect(missing).toMatchObject([{ idx: CHUNK_SIZE, id: `m-${CHUNK_SIZE}` }]);
    const writer = runs.writer({ run: 1, signal });
    await writer.keep({ ...failure, idx: CHUNK_SIZE });
    expect(await runs.get(1)).toMatchObject({ answered: 0, failed: 1 });
    expect(await runs.finish(second, 0)).toBe(true);
    expect(await runs.get(1)).toMatchObject({ state: "open", answered: 0, failed: 1 });
    await Promise.all(records.slice(0, CHUNK_SIZE).map((record) => writer.keep(answerTo(record))));
    expect(await runs.finish(first, 0)).toBe(true);
    expect(await runs.get(1)).toMatchObject({
      state: "done",
      answered: CHUNK_SIZE,
      asked: CHUNK_SIZE,
      failed: 1,
      inputTokens: 300 * CHUNK_SIZE,
      costUsd: 0.25 * CHUNK_SIZE,
    });
    expect(await load(runs, records)).toMatchObject({ state: "open", failed: 0 });
    expect([(await takeChunk(runs, 1)).chunk, await runs.fetchChunk(1)]).toEqual([1, null]);
  });

  test("what another run has asked is not missing, and costs this one nothing", async () => {
    const records = recordsNamed("a", "b");
    const [a, b] = records.map((record) => answerTo(record));
    await load(runs, records);
    if (a !== undefined) await runs.writer({ run: 1, signal }).keep(a);
    await load(runs, records, { digest: "other" });
    const chunk = await takeChunk(runs, 2);
    expect(await runs.readChunk(chunk)).toMatchObject({ missing: [{ id: "b" }], costUsd: 0 });
    if (b !== undefined) await runs.writer({ run: 2, signal }).keep(b);
    await runs.finish(chunk, 0);
    expect(await runs.get(2)).toMatchObject({ answered: 2, asked: 1, costUsd: 0.25 });
  });

  test("the same command opens a run again that has ended without all its answers", async () => {
    const records = countedTo(CHUNK_SIZE + 2);
    await load(runs, records, { maxCostUsd: 1 });
    const [one, two] = [await takeChunk(runs, 1), await takeChunk(runs, 1)];
    const writer = runs.writer({ run: 1, signal });
    await Promise.all(records.slice(0, CHUNK_SIZE).map((record) => writer.keep(answerTo(record))));
    await runs.finish(one, 0);
    await writer.keep({ ...failure, idx: CHUNK_SIZE });
    await runs.stop(1, "It costs more.");
    const again = {
      state: "open",
      stoppedBy: null,
      answered: CHUNK_SIZE,
      failed: 0,
      maxCostUsd: 100,
    };
    expect(await load(runs, records, { maxCostUsd: 100 })).toMatchObject(again);
    expect(await runs.touch(two)).toBe(false);
    const chunk = await takeChunk(runs, 1);
    expect([chunk.chunk, await runs.fetchChunk(1)]).toEqual([1, null]);
    expect((await runs.readChunk(chunk)).missing).toHaveLength(2);
  });

  test("a run is opened again for lost answers, and their chunks are counted again", async () => {
    const records = countedTo(CHUNK_SIZE + 1);
    await load(runs, records);
    const writer = runs.writer({ run: 1, signal });
    await Promise.all(records.map((record) => writer.keep(answerTo(record))));
    for (const chunk of [await takeChunk(runs, 1), await takeChunk(runs, 1)])
      await runs.finish(chunk, 0);
    expect(await runs.get(1)).toMatchObject({ state: "done", finishedAt: expect.any(Date) });
    await runs.reopen(1, [CHUNK_SIZE]);
    expect(await runs.get(1)).toMatchObject({
      state: "open",
      finishedAt: null,
      answered: CHUNK_SIZE + 1,
    });
    const worker = { worker: "w", run: 1, name: "here", answered: 0, failed: 0 };
    await runs.report({ ...worker, inFlight: 0, perSecond: 0 });
    await runs.reopen(1, [0]); // is open already, and a worker is there
    const again = await takeChunk(runs, 1);
    expect([again.chunk, await runs.fetchChunk(1)]).toEqual([1, null]);
    expect(await runs.finish(again, 0)).toBe(true);
    const whole = { answered: CHUNK_SIZE + 1, costUsd: 0.25 * (CHUNK_SIZE + 1) };
    expect(await runs.get(1)).toMatchObject({ state: "done", ...whole });
  });

  test("a run of which all is there stays done, and one without records is done at once", async () => {
    const records = recordsNamed("a");
    await load(runs, records);
    await answerAll(runs, 1);
    expect(await load(runs, records)).toMatchObject({ state: "done", isJoined: true });
    expect(await load(runs, [])).toMatchObject({ run: 2, state: "done" });
  });

  test("a run that was removed and is made again hands each chunk out once", async () => {
    await load(runs, countedTo(2));
    await store.forgetRun(1);
    expect(await load(runs, countedTo(2))).toMatchObject({ run: 1, isJoined: false });
    expect([(await takeChunk(runs, 1)).chunk, await runs.fetchChunk(1)]).toEqual([0, null]);
  });

  test("the run that was joined last is the last of the list, and is where a record is found", async () => {
    const [first, second] = [recordsNamed("a", "b"), recordsNamed("b", "c")];
    const numbers = async () => (await runs.list()).map(({ run }) => run);
    for (const records of [first, second]) {
      await load(runs, records);
      await store.passTime?.(10);
    }
    expect([await numbers(), (await runs.find("b"))?.run]).toEqual([[1, 2], 2]);
    await load(runs, first);
    expect([await numbers(), (await runs.find("b"))?.run]).toEqual([[2, 1], 1]);
    await load(runs, first, { name: "other.json", digest: "other" });
    expect((await runs.list("inbox.json")).map(({ run }) => run)).toEqual([2, 1]);
    const found = async (...from: [number | null, string]) => (await runs.find("b", ...from))?.run;
    expect(await found(null, "inbox.json")).toBe(1);
    expect(await found(null, "other.json")).toBe(3);
    expect(await found(2, "other.json")).toBeUndefined();
  });

  test("the same command asks again for the failed records of an open run on which no worker is", async () => {
    const records = countedTo(2 * CHUNK_SIZE);
    await load(runs, records);
    const chunk = await takeChunk(runs, 1);
    const writer = runs.writer({ run: 1, signal });
    const [failed, ...others] = records.slice(0, CHUNK_SIZE);
    await Promise.all(others.map((record) => writer.keep(answerTo(record))));
    await writer.keep({ ...failure, idx: 0 });
    await runs.finish(chunk, 0);
    const worker = { worker: "w", run: 1, name: "here", answered: 0, failed: 0 };
    await runs.report({ ...worker, inFlight: 0, perSecond: 0 });
    expect(await load(runs, records)).toMatchObject({ state: "open", failed: 1 });
    await runs.leave("w");
    expect(await load(runs, records)).toMatchObject({ state: "open", failed: 0, answered: 99 });
    const again = await takeChunk(runs, 1);
    expect((await runs.readChunk(again)).missing).toMatchObject([{ id: failed?.id }]);
    expect([(await takeChunk(runs, 1)).chunk, await runs.fetchChunk(1)]).toEqual([1, null]);
  });

  test("says which run is not there", async () => {
    const message = "There is no run 7 in this database.";
    await expect(runs.get(7)).rejects.toMatchObject({ failure: "no-run", message });
  });
}
