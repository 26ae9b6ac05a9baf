import { beforeEach, expect, test } from "vitest";
import { CHUNK_SIZE, type KeptAnswer, type RunStore } from "../../store/run-store.ts";
import { answerTo, countedTo, recordsNamed, type SampleRecord } from "../sample-runs.ts";
import { load, signal, type StoreUnderTest, takeChunk } from "./store-under-test.ts";

/** How the cost of a run stays within its maximum, and is told. */
export function testMoney(open: () => Promise<StoreUnderTest>): void {
  let store: StoreUnderTest;
  let runs: RunStore;
  beforeEach(async () => {
    store = await open();
    ({ runs } = store);
  });

  test("the chunks of all workers together reserve no more than the run may cost", async () => {
    const records = countedTo(3 * CHUNK_SIZE);
    await load(runs, records, { maxCostUsd: 10 });
    const [one, two, three] = [
      await takeChunk(runs, 1),
      await takeChunk(runs, 1),
      await takeChunk(runs, 1),
    ];
    expect([await runs.reserve(one, 6), await runs.reserve(two, 6)]).toEqual([6, 4]);
    expect(await runs.reserve(three, 1)).toBe(0);
    expect(await runs.reserve(one, 5)).toBe(5);
    expect(await runs.reserve(three, 3)).toBe(1);
    await load(runs, records, { maxCostUsd: 2 });
    expect([await runs.reserve(three, 3), await runs.reserve(one, 5)]).toEqual([0, 0]);
    // The others may have spent all of it.
    await load(runs, records, { maxCostUsd: 11 });
    expect([await runs.reserve(three, 3), await runs.reserve(one, 9)]).toEqual([2, 5]);
  });

  test("sessions that reserve at once never take the same dollar", async () => {
    await load(runs, countedTo(3 * CHUNK_SIZE), { maxCostUsd: 10 });
    const sessions = [runs, await store.openSession(), await store.openSession()];
    const granted = await Promise.all(
      sessions.map(async (session) => session.reserve(await takeChunk(session, 1), 6)),
    );
    expect(granted.toSorted((one, other) => Number(one) - Number(other))).toEqual([0, 4, 6]);
  });

  test("what was spent on a chunk stays reserved if a stopped run is opened again", async () => {
    const records = countedTo(2 * CHUNK_SIZE);
    await load(runs, records, { maxCostUsd: 10 });
    const [one, two] = [await takeChunk(runs, 1), await takeChunk(runs, 1)];
    expect([await runs.reserve(one, 6), await runs.reserve(two, 6)]).toEqual([6, 4]);
    const writer = runs.writer({ run: 1, signal });
    const ends = records.slice(CHUNK_SIZE, CHUNK_SIZE + 8).map((record) => answerTo(record));
    await Promise.all(ends.map((end) => writer.keep(end)));
    expect([await runs.finish(one, 0), await runs.finish(two, 2)]).toEqual([false, false]);
    await runs.stop(1, "It costs too much.");
    await load(runs, records, { maxCostUsd: 10 });
    expect(await runs.reserve(await takeChunk(runs, 1), 25)).toBe(8);
  });

  test("what a finished chunk has not used may be spent by others", async () => {
    const records = countedTo(CHUNK_SIZE + 1);
    await load(runs, records, { maxCostUsd: 30 });
    const [one, two] = [await takeChunk(runs, 1), await takeChunk(runs, 1)];
    expect(await runs.reserve(one, 30)).toBe(30);
    const writer = runs.writer({ run: 1, signal });
    await Promise.all(records.slice(0, CHUNK_SIZE).map((record) => writer.keep(answerTo(record))));
    await runs.finish(one, 0);
    expect(await runs.reserve(two, 30)).toBe(5);
  });

  test("what a worker spent beside its answers is spent for all, also when its chunk is counted", async () => {
    const records = countedTo(CHUNK_SIZE + 1);
    await load(runs, records, { maxCostUsd: 100 });
    const [one, two] = [await takeChunk(runs, 1), await takeChunk(runs, 1)];
    expect(await runs.reserve(one, 50)).toBe(50);
    const writer = runs.writer({ run: 1, signal });
    const [first, ...others] = records.slice(0, CHUNK_SIZE).map((record) => answerTo(record));
    await writer.keep(first as KeptAnswer);
    expect(await runs.finish(one, 10.25)).toBe(false);
    expect(await runs.get(1)).toMatchObject({ costUsd: 0.25, uncountedUsd: expect.closeTo(10) });
    expect(await runs.reserve(two, 100)).toBeCloseTo(89.75);
    const again = await takeChunk(runs, 1);
    const { costUsd } = await runs.readChunk(again);
    expect(costUsd).toBeCloseTo(10.25);
    await runs.reserve(two, 0);
    expect(await runs.reserve(again, 60)).toBe(60);
    await Promise.all(others.map((end) => writer.keep(end)));
    // Once, also if the reply is lost and the call is made again.
    for (let time = 0; time < 2; time += 1) expect(await runs.finish(again, 40)).toBe(true);
    expect(await runs.get(1)).toMatchObject({ costUsd: 25, uncountedUsd: expect.closeTo(15) });
    expect(await runs.reserve(two, 100)).toBeCloseTo(60);
  });

  test("all that a worker reserved is spent if another one gets its chunk, and it reserves no more", async () => {
    const records = countedTo(CHUNK_SIZE + 1);
    await load(runs, records, { maxCostUsd: 100 });
    const [old, other] = [await takeChunk(runs, 1), await takeChunk(runs, 1)];
    expect(await runs.reserve(old, 30)).toBe(30);
    const writer = runs.writer({ run: 1, signal });
    await writer.keep(answerTo(records[0] as SampleRecord));
    // As after its death: the run ends and is opened again.
    await runs.stop(1, "It is late.");
    await load(runs, records);
    const again = await takeChunk(runs, 1);
    const { costUsd } = await runs.readChunk(again);
    expect(costUsd).toBeCloseTo(30);
    expect(await runs.get(1)).toMatchObject({
      maxCostUsd: 100,
      uncountedUsd: expect.closeTo(29.75),
    });
    expect([await runs.reserve(old, 40), await runs.reserve(other, 1)]).toEqual([null, null]);
    expect(await runs.reserve(again, 50)).toBe(50);
    expect(await runs.finish(old, 30)).toBe(false);
    expect(await runs.reserve(await takeChunk(runs, 1), 100)).toBe(50);
  });

  test("a cost that is not known makes that of the run unknown, and not nothing", async () => {
    const records = recordsNamed("a", "b");
    await load(runs, records);
    const [a, b] = records.map((record) => answerTo(record));
    const chunk = await takeChunk(runs, 1);
    const writer = runs.writer({ run: 1, signal });
    await writer.keep(a as KeptAnswer);
    expect(await runs.get(1)).toMatchObject({ costUsd: 0.25 });
    await writer.keep({ ...(b as KeptAnswer), costUsd: null });
    expect(await runs.get(1)).toMatchObject({ costUsd: null });
    expect(await runs.finish(chunk, 0.25)).toBe(true);
    expect(await runs.get(1)).toMatchObject({ state: "done", costUsd: null });
  });

  test("who joins with a maximum gives it to all workers, and who joins without one leaves it", async () => {
    const records = countedTo(2 * CHUNK_SIZE);
    await load(runs, records);
    const [one, two] = [await takeChunk(runs, 1), await takeChunk(runs, 1)];
    await runs.writer({ run: 1, signal }).keep(answerTo(records[0] as SampleRecord));
    const report = { worker: "w", run: 1, name: "here", answered: 1, failed: 0 };
    const seen = { ...report, inFlight: 2, perSecond: 3.5 };
    expect(await runs.report(seen)).toMatchObject({ maxCostUsd: null });
    await load(runs, records, { maxCostUsd: 5 });
    await load(runs, records);
    expect(await runs.report(seen)).toMatchObject({ state: "open", maxCostUsd: 5 });
    // What was spent before there was a maximum is spent.
    expect(await runs.reserve(two, 10)).toBe(4.75);
    expect(await runs.reserve(one, 10)).toBe(0.25);
  });
}
