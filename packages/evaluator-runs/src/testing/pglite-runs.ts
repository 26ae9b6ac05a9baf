import { queueSchema } from "../postgres/chunk-queue.ts";
import type { Query } from "../postgres/database.ts";
import type { NewRun, RunRecord } from "../postgres/load-run.ts";
import { PostgresRuns } from "../postgres/postgres-runs.ts";
import type { RunRow } from "../postgres/run-rows.ts";
import { openPglite, type PgliteDatabase } from "./pglite-database.ts";
import { newRun } from "./sample-runs.ts";

/** Runs in a PostgreSQL in memory, and the steps that most tests of them take. */
export interface PgliteRuns extends AsyncDisposable {
  readonly database: PgliteDatabase;
  readonly runs: PostgresRuns;
  /** Loads a run over records. */
  load(records: readonly RunRecord[], fields?: Partial<NewRun>): ReturnType<PostgresRuns["join"]>;
  /** Returns all rows of a run. */
  allRows(run: number): Promise<RunRow[]>;
  /** Returns the next chunk of a run. @throws where there is none. */
  takeChunk(run: number): Promise<NonNullable<Awaited<ReturnType<PostgresRuns["fetchChunk"]>>>>;
}

/** Starts a PostgreSQL in memory without a run. */
export async function openPgliteRuns(): Promise<PgliteRuns> {
  const database = await openPglite();
  const runs = await PostgresRuns.open(database);
  const { signal } = new AbortController();
  return {
    database,
    runs,
    load: async (records, fields = {}) =>
      await runs.join(newRun(records, fields), () => ReadableStream.from(records), signal),
    async allRows(run) {
      const rows: RunRow[] = [];
      for await (const row of runs.rows(run)) rows.push(row);
      return rows;
    },
    async takeChunk(run) {
      const chunk = await runs.fetchChunk(run);
      if (chunk === null) throw new Error("There is no chunk.");
      return chunk;
    },
    [Symbol.asyncDispose]: () => runs[Symbol.asyncDispose](),
  };
}

/** Forgets all runs and answers. */
export async function forgetAll(query: Query): Promise<void> {
  await query(
    `truncate evaluator.runs, evaluator.setups, evaluator.records, evaluator.answers,
       evaluator.failures, evaluator.chunks, evaluator.workers; delete from ${queueSchema}.job`,
  );
}
