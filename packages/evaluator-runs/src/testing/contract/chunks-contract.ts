import { beforeEach, describe, expect, test } from "vitest";
import { CHUNK_SIZE, type KeptAnswer, type RunStore } from "../../store/run-store.ts";
import { answerTo, countedTo, failure, type SampleRecord } from "../sample-runs.ts";
import { load, signal, type StoreUnderTest, takeChunk } from "./store-under-test.ts";

// More than a heartbeat, and one round of supervision.
const LEASE_ENDED_MS = 13_000;
const HOUR_MS = 3_600_000;

/** How chunks are leased and counted, and how workers see each other. */
export function testChunks(
  open: () => Promise<StoreUnderTest>,
  { hasClock }: { readonly hasClock: boolean },
): void {
  let store: StoreUnderTest;
  let runs: RunStore;
  beforeEach(async () => {
    store = await open();
    ({ runs } = store);
  });

  test("a chunk that is given back holds only what has no end, and an old lease completes nothing", async () => {
    const records = countedTo(3);
    await load(runs, records);
    const old = await takeChunk(runs, 1);
    const writer = runs.writer({ run: 1, signal });
    await writer.keep(answerTo(records[0] as SampleRecord));
    expect(await runs.finish(old, 0)).toBe(false);
    const again = await takeChunk(runs, 1);
    expect(again).toMatchObject({ chunk: 0, lease: { id: old.lease.id } });
    const { missing, costUsd } = await runs.readChunk(again);
    expect([missing.map(({ id }) => id), costUsd]).toEqual([["m-1", "m-2"], 0.25]);
    expect([await runs.touch(old), await runs.touch(again)]).toEqual([false, true]);
    expect(await runs.finish(old, 0)).toBe(false);
    expect(await runs.fetchChunk(1)).toBeNull();
    // A commit tells who still has the chunk.
    const [one, two] = records.slice(1).map((record) => answerTo(record));
    expect(await writer.keep(one as KeptAnswer, old.lease)).toBe(false);
    expect(await writer.keep(two as KeptAnswer, again.lease)).toBe(true);
    // All is there, so the chunk is counted; the job is the other worker's to complete.
    expect(await runs.finish(old, 0)).toBe(true);
    expect(await runs.touch(again)).toBe(true);
    expect(await runs.finish(again, 0)).toBe(true);
    expect(await runs.touch(again)).toBe(false);
    expect(await runs.get(1)).toMatchObject({ state: "done", answered: 3, costUsd: 0.75 });
  });

  test("chunks are handed out in order, one that comes back first", async () => {
    await load(runs, countedTo(3 * CHUNK_SIZE));
    const first = await takeChunk(runs, 1);
    expect(await runs.finish(first, 0)).toBe(false);
    const next = [await takeChunk(runs, 1), await takeChunk(runs, 1), await takeChunk(runs, 1)];
    expect(next.map(({ chunk }) => chunk)).toEqual([0, 1, 2]);
  });

  test("a process that joins an open run takes no chunk from its workers", async () => {
    await load(runs, countedTo(2));
    const chunk = await takeChunk(runs, 1);
    const other = await store.openSession();
    expect(await load(other, countedTo(2))).toMatchObject({ isJoined: true });
    expect([await runs.touch(chunk), await other.fetchChunk(1)]).toEqual([true, null]);
  });

  test("twenty failures in a row, of all workers, stop the run; an answer between them does not", async () => {
    const records = countedTo(CHUNK_SIZE);
    await load(runs, records);
    const other = await store.openSession();
    const writers = [runs.writer({ run: 1, signal }), other.writer({ run: 1, signal })];
    const fail = async (idx: number) => await writers[idx % 2]?.keep({ ...failure, idx });
    for (let idx = 0; idx < 19; idx += 1) await fail(idx);
    await writers[0]?.keep(answerTo(records[50] as SampleRecord));
    for (let idx = 20; idx < 39; idx += 1) await fail(idx);
    expect(await runs.get(1)).toMatchObject({ state: "open" });
    await fail(39);
    expect(await runs.get(1)).toMatchObject({ state: "stopped", stoppedBy: failure.error });
  });

  test("failures that cannot be tried again do not stop the run", async () => {
    await load(runs, countedTo(30));
    const writer = runs.writer({ run: 1, signal });
    const ends = Array.from({ length: 30 }, (_, idx) => ({ ...failure, idx, isRetryable: false }));
    await Promise.all(ends.map((end) => writer.keep(end)));
    expect(await runs.get(1)).toMatchObject({ state: "open", stoppedBy: null });
  });

  test("a wrong key, seen by one worker, stops the run for all", async () => {
    await load(runs, countedTo(1));
    const other = await store.openSession();
    const report = { worker: "w", run: 1, name: "here", answered: 1, failed: 0 };
    const seen = { ...report, inFlight: 2, perSecond: 3.5 };
    expect(await runs.report(seen)).toMatchObject({ state: "open", stoppedBy: null });
    const end = { ...failure, idx: 0, error: "The key is wrong.", isFinal: true };
    await other.writer({ run: 1, signal }).keep(end);
    await other.writer({ run: 1, signal }).keep({ ...end, error: "The key is still wrong." });
    expect(await runs.report(seen)).toMatchObject({ stoppedBy: "The key is wrong." });
    expect(await other.workers(1)).toMatchObject([{ name: "here", inFlight: 2, perSecond: 3.5 }]);
    await runs.leave("w");
    expect(await runs.workers(1)).toEqual([]);
  });

  test("a wrong key stops the run, also if an answer is kept right after it", async () => {
    const records = countedTo(2);
    await load(runs, records);
    const writer = runs.writer({ run: 1, signal });
    const end = { ...failure, idx: 0, error: "The key is wrong.", isFinal: true };
    await Promise.all([writer.keep(end), writer.keep(answerTo(records[1] as SampleRecord))]);
    expect(await runs.get(1)).toMatchObject({ state: "stopped", stoppedBy: "The key is wrong." });
  });

  test("a worker of a run that was removed is stopped", async () => {
    const seen = { worker: "w", run: 5, name: "here", answered: 0, failed: 0 };
    expect(await runs.report({ ...seen, inFlight: 0, perSecond: 0 })).toEqual({
      state: "stopped",
      stoppedBy: "The run was removed from the database.",
      maxCostUsd: null,
    });
  });

  describe.skipIf(!hasClock)("in time", () => {
    test("a dead worker's chunk comes next after its heartbeat; a live worker keeps its own", async () => {
      await store.openSession({ supervises: true });
      await load(runs, countedTo(3 * CHUNK_SIZE));
      const [dead, own] = [await takeChunk(runs, 1), await takeChunk(runs, 1)];
      await store.passTime?.(LEASE_ENDED_MS / 2);
      expect(await runs.touch(own)).toBe(true);
      await store.passTime?.(LEASE_ENDED_MS / 2);
      expect(await takeChunk(runs, 1)).toMatchObject({
        chunk: dead.chunk,
        lease: { id: dead.lease.id, retryCount: dead.lease.retryCount + 1 },
      });
      expect([await runs.touch(dead), await runs.touch(own)]).toEqual([false, true]);
      expect((await takeChunk(runs, 1)).chunk).toBe(2);
    });

    test("a session that supervises frees the chunks of workers that died before it", async () => {
      await load(runs, countedTo(2 * CHUNK_SIZE));
      await takeChunk(runs, 1);
      await store.passTime?.(LEASE_ENDED_MS);
      const session = await store.openSession({ supervises: true });
      expect((await takeChunk(session, 1)).chunk).toBe(0);
    });

    test("a lease lasts ten seconds after the last sign of life", async () => {
      await store.openSession({ supervises: true });
      await load(runs, countedTo(1));
      const chunk = await takeChunk(runs, 1);
      await store.passTime?.(2000);
      await runs.touch(chunk);
      await store.passTime?.(10_000);
      expect(await runs.fetchChunk(1)).toBeNull();
      await store.passTime?.(2000);
      expect(await runs.fetchChunk(1)).toMatchObject({ chunk: 0, lease: { retryCount: 1 } });
    });

    test("a chunk stays a dead worker's if no session supervises", async () => {
      await load(runs, countedTo(1));
      await takeChunk(runs, 1);
      await store.passTime?.(LEASE_ENDED_MS);
      expect(await runs.fetchChunk(1)).toBeNull();
    });

    test.each([
      ["at work", 2],
      ["idle", 1],
    ])(
      "a dead worker's chunk is handed out to one %s, though the store's clock went back",
      async (_, chunks) => {
        await store.openSession({ supervises: true });
        await load(runs, countedTo(chunks * CHUNK_SIZE));
        await takeChunk(runs, 1);
        const own = chunks === 1 ? null : await takeChunk(runs, 1);
        await store.passTime?.(3000);
        await store.stepClock?.(-HOUR_MS);
        const isAlive = async () => {
          const seen = own === null ? await runs.fetchChunk(1) : await runs.touch(own);
          return Boolean(seen);
        };
        expect(await isAlive()).toBe(own !== null);
        await store.passTime?.(LEASE_ENDED_MS / 2);
        expect(await isAlive()).toBe(own !== null);
        await store.passTime?.(LEASE_ENDED_MS / 2);
        expect((await takeChunk(runs, 1)).chunk).toBe(0);
        expect(await runs.fetchChunk(1)).toBeNull();
      },
    );

    test("a worker is there for ten seconds after its report, by the clock of the store", async () => {
      await store.passTime?.(0);
      await load(runs, countedTo(1));
      const seen = { worker: "w", run: 1, name: "here", answered: 0, failed: 0 };
      await runs.report({ ...seen, inFlight: 0, perSecond: 0 });
      await store.passTime?.(9999);
      expect(await runs.workers(1)).toMatchObject([{ seenMsAgo: 9999 }]);
      await store.passTime?.(1);
      expect(await runs.workers(1)).toEqual([]);
      const chunk = await takeChunk(runs, 1);
      await runs.writer({ run: 1, signal }).keep({ ...failure, idx: 0 });
      await runs.finish(chunk, 0);
      const { createdAt, finishedAt } = await runs.get(1);
      const tookMs = Number(finishedAt) - Number(createdAt);
      expect([Math.floor(tookMs / 100), createdAt]).toEqual([100, expect.any(Date)]);
    });
  });
}
