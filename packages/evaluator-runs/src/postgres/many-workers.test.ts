import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { CHUNK_SIZE } from "./chunk-queue.ts";
import type { Query } from "./database.ts";
import { PostgresRuns } from "./postgres-runs.ts";
import { DrivenClock } from "../testing/driven-clock.ts";
import { forgetAll, openPgliteRuns, type PgliteRuns } from "../testing/pglite-runs.ts";
import { countedTo, failure, newRun, recordsNamed } from "../testing/sample-runs.ts";

let opened: PgliteRuns;
let runs: PostgresRuns;
const { signal } = new AbortController();

beforeAll(async () => {
  opened = await openPgliteRuns();
  runs = opened.runs;
});
afterAll(() => opened[Symbol.asyncDispose]());
beforeEach(() => forgetAll(opened.database.query));

test("a chunk that comes back is asked before those that no worker had", async () => {
  await opened.load(countedTo(3 * CHUNK_SIZE));
  // As a server with many chunks plans it, by an index, in which one that comes back would be the last.
  await opened.database.query("set enable_sort = off");
  const first = await opened.takeChunk(1);
  expect(await runs.finish(first)).toBe(false);
  const next = [await opened.takeChunk(1), await opened.takeChunk(1), await opened.takeChunk(1)];
  expect(next.map(({ chunk }) => chunk)).toEqual([first.chunk, 1, 2]);
});

const noon = Date.UTC(2026, 10, 21, 12);

/** Opens runs that hand out the chunks of dead workers, with a clock that the test drives. */
async function startSupervising() {
  const clock = new DrivenClock(noon);
  const options = { supervises: true, queueClock: clock };
  const supervising = await PostgresRuns.open(opened.database, options);
  onTestFinished(() => supervising[Symbol.asyncDispose]());
  return { clock, supervising };
}

test.each([
  ["at work", 2],
  ["idle", 1],
])(
  "a dead worker's chunk is handed out to one %s, though the server's clock went back",
  async (_, chunks) => {
    const { clock, supervising } = await startSupervising();
    await opened.load(countedTo(chunks * CHUNK_SIZE));
    await opened.takeChunk(1);
    const own = chunks === 1 ? null : await opened.takeChunk(1);
    await clock.tick(2000);
    await clock.stepServer(-3_600_000);
    for (let round = 0; round < 2; round += 1) {
      await (own === null ? runs.fetchChunk(1) : runs.touch(own));
      await clock.tick(6000);
    }
    expect(await supervising.fetchChunk(1)).toMatchObject({ chunk: 0 });
  },
);

test("a worker is there for ten seconds after its report, by the clock of the server", async () => {
  const { clock } = await startSupervising();
  await opened.load(countedTo(1));
  const report = { run: 1, name: "here", answered: 0, failed: 0, inFlight: 0, perSecond: 0 };
  await runs.report({ worker: "w", ...report });
  await clock.tick(9999);
  expect(await runs.workers(1)).toMatchObject([{ seenMsAgo: 9999 }]);
  await clock.tick(1);
  expect(await runs.workers(1)).toEqual([]);
  const chunk = await opened.takeChunk(1);
  await runs.reserve(chunk, 0);
  await runs.writer({ run: 1, signal }).keep({ ...failure, idx: 0 });
  await runs.finish(chunk);
  const finishedAt = new Date(noon + 10_000);
  expect(await runs.get(1)).toMatchObject({ createdAt: new Date(noon), finishedAt });
});

test("a process that joins an open run takes no chunk from its workers", async () => {
  await opened.load(countedTo(2));
  const chunk = await opened.takeChunk(1);
  expect(await opened.load(countedTo(2))).toMatchObject({ isJoined: true });
  expect([await runs.touch(chunk), await runs.fetchChunk(1)]).toEqual([true, null]);
});

test("a run that was removed and is made again hands each chunk out once", async () => {
  await opened.load(countedTo(2));
  await opened.database.query("select evaluator.forget_run(1)");
  expect(await opened.load(countedTo(2))).toMatchObject({ run: 1, isJoined: false });
  expect([(await opened.takeChunk(1)).chunk, await runs.fetchChunk(1)]).toEqual([0, null]);
});

/** Returns the locks of the transaction that asks: on rows of runs, and those that a program names. */
async function locksOf(query: Query): Promise<string[]> {
  const rows = await query<{ locktype: string }>(
    `select locktype from pg_locks where locktype = 'advisory'
       or mode = 'RowShareLock' and relation = 'evaluator.runs'::regclass order by locktype`,
  );
  return rows.map(({ locktype }) => locktype);
}

test("a load holds its run until it is whole, so that no other process loads or removes it", async () => {
  let locks: readonly string[] = [];
  let query: Query = opened.database.query;
  const watched = await PostgresRuns.open({
    ...opened.database,
    transaction: (run) =>
      opened.database.transaction((session) => {
        query = session.query;
        return run(session);
      }),
  });
  const records = async function* records() {
    locks = await locksOf(query);
    yield* recordsNamed("a");
  };
  await watched.join(newRun(recordsNamed("a")), records, signal);
  expect(locks).toEqual(["advisory", "relation"]);
});

test("a worker that reserves holds the run, so that no two take the same dollar", async () => {
  await opened.load(countedTo(1), { maxCostUsd: 1 });
  const locks = await opened.database.transaction(async ({ query }) => {
    await query("select evaluator.reserve_chunk(1, 0, 1)");
    return await locksOf(query);
  });
  expect(locks).toEqual(["relation"]);
});
