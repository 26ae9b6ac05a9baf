import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { CHUNK_SIZE } from "../store/run-store.ts";
import type { Query } from "./database.ts";
import { PostgresRuns } from "./postgres-runs.ts";
import { forgetAll, openPgliteRuns, type PgliteRuns } from "../testing/pglite-runs.ts";
import { countedTo, newRun, recordsNamed } from "../testing/sample-runs.ts";

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
  expect(await runs.finish(first, 0)).toBe(false);
  const next = [await opened.takeChunk(1), await opened.takeChunk(1), await opened.takeChunk(1)];
  expect(next.map(({ chunk }) => chunk)).toEqual([first.chunk, 1, 2]);
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
    await query("select evaluator.reserve_chunk(1, 0, 'lease', 1)");
    return await locksOf(query);
  });
  expect(locks).toEqual(["relation"]);
});
