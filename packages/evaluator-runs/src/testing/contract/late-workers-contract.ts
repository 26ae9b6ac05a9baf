import { beforeEach, expect, test } from "vitest";
import { CHUNK_SIZE, type RunStore } from "../../store/run-store.ts";
import { answerTo, countedTo, failure, recordsNamed } from "../sample-runs.ts";
import { load, signal, type StoreUnderTest, takeChunk } from "./store-under-test.ts";

/** How runs are opened again after a worker that lost its lease, or came late. */
export function testLateWorkers(open: () => Promise<StoreUnderTest>): void {
  let runs: RunStore;
  beforeEach(async () => void ({ runs } = await open()));

  test("a failed record is asked about once again, also if the lease of its chunk outlived the chunk", async () => {
    const records = countedTo(CHUNK_SIZE + 1);
    await load(runs, records);
    const [, last] = [await takeChunk(runs, 1), await takeChunk(runs, 1)];
    await runs.writer({ run: 1, signal }).keep({ ...failure, idx: CHUNK_SIZE });
    // As a worker that dies between both ends.
    const lease = { ...last.lease, retryCount: last.lease.retryCount + 1 };
    expect(await runs.finish({ ...last, lease }, 0)).toBe(true);
    expect(await load(runs, records)).toMatchObject({ state: "open", failed: 0 });
    expect(await runs.touch(last)).toBe(false);
    await runs.finish(last, 0);
    expect([(await takeChunk(runs, 1)).chunk, await runs.fetchChunk(1)]).toEqual([1, null]);
  });

  test("a run that a failure stopped is done when it is joined after a late answer completed it", async () => {
    const records = recordsNamed("a");
    await load(runs, records);
    const chunk = await takeChunk(runs, 1);
    const { missing } = await runs.readChunk(chunk);
    const writer = runs.writer({ run: 1, signal });
    await writer.keep({ ...failure, idx: 0, isFinal: true });
    await runs.finish(chunk, 0);
    expect(await runs.get(1)).toMatchObject({ state: "stopped", failed: 1 });
    await Promise.all(missing.map((record) => writer.keep(answerTo(record))));
    expect(await runs.get(1)).toMatchObject({ state: "stopped", answered: 1, failed: 0 });
    const done = { state: "done", stoppedBy: null, answered: 1, finishedAt: expect.any(Date) };
    expect(await load(runs, records)).toMatchObject(done);
    expect(await runs.fetchChunk(1)).toBeNull();
  });
}
