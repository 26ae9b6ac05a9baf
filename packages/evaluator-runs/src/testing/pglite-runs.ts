import { onTestFinished } from "vitest";
import type { RunsOptions } from "../postgres/chunk-queue.ts";
import { toRunKey } from "../postgres/answers.ts";
import type { Query } from "../postgres/database.ts";
import type { NewRun, RunRecord } from "../store/run-store.ts";
import { PostgresRuns } from "../postgres/postgres-runs.ts";
import { allRows, load, type StoreUnderTest, takeChunk } from "./contract/store-under-test.ts";
import { DrivenClock } from "./driven-clock.ts";
import { openPglite, type PgliteDatabase } from "./pglite-database.ts";

/** Runs in a PostgreSQL in memory, and the steps of most tests of them. */
export type PgliteRuns = Awaited<ReturnType<typeof openPgliteRuns>>;

/** Starts a PostgreSQL in memory without a run. */
export async function openPgliteRuns() {
  const database = await openPglite();
  const runs = await PostgresRuns.open(database);
  return {
    database,
    runs,
    load: (records: readonly RunRecord[], fields: Partial<NewRun> = {}) =>
      load(runs, records, fields),
    allRows: (run: number) => allRows(runs, run),
    takeChunk: (run: number) => takeChunk(runs, run),
    [Symbol.asyncDispose]: () => runs[Symbol.asyncDispose](),
  };
}

/** Deletes all runs and answers. */
export async function forgetAll(query: Query): Promise<void> {
  await query(
    `truncate evaluator.runs, evaluator.setups, evaluator.records, evaluator.answers,
       evaluator.failures, evaluator.chunks, evaluator.workers, evaluator.choices; delete from evaluator_jobs.job`,
  );
}

/** Returns the changes to a store in PostgreSQL that a contract makes from outside. */
export function outsideChanges(query: Query) {
  const change = async (statement: string, ...values: unknown[]) =>
    void (await query(statement, values));
  return {
    changeAnswer: (key: string) =>
      change("update evaluator.answers set evaluation = '1' where key = $1", toRunKey(key)),
    changeState: (run: number, idx: number) =>
      change("update evaluator.records set state = '1' where run = $1 and idx = $2", run, idx),
    forgetRun: (run: number) => change("select evaluator.forget_run($1)", run),
  };
}

/** Returns an empty store for one test of a contract, in a PostgreSQL in memory that has its schema. */
export async function emptyPgliteStore(
  database: PgliteDatabase,
  runs: PostgresRuns,
): Promise<StoreUnderTest> {
  await forgetAll(database.query);
  await database.query("delete from evaluator_jobs.queue");
  let clock: DrivenClock | null = null;
  const open = async (options: RunsOptions) => {
    const session = await PostgresRuns.open(database, options);
    onTestFinished(() => session[Symbol.asyncDispose]());
    return session;
  };
  // One session drives the clock of the server, which all share.
  const openDriving = async (options: RunsOptions) => {
    clock = new DrivenClock(Date.now());
    return await open({ ...options, queueClock: clock });
  };
  const drivenClock = async () => {
    if (clock === null) await openDriving({});
    return clock;
  };
  return {
    runs,
    isConcurrent: false,
    ...outsideChanges(database.query),
    openSession: (options = {}) =>
      options.supervises === true && clock === null ? openDriving(options) : open(options),
    passTime: async (ms) => await (await drivenClock())?.tick(ms),
    stepClock: async (ms) => await (await drivenClock())?.stepServer(ms),
  };
}
