import type { Query } from "../postgres/database.ts";
import type { RunRecord } from "../postgres/load-run.ts";
import type { NewRun } from "../postgres/run-reader.ts";
import { PostgresRuns } from "../postgres/postgres-runs.ts";
import type { RunRow } from "../postgres/run-reader.ts";
import { openPglite } from "./pglite-database.ts";
import { newRun } from "./sample-runs.ts";

/** Runs in a PostgreSQL in memory, and the steps of most tests of them. */
export type PgliteRuns = Awaited<ReturnType<typeof openPgliteRuns>>;

/** Starts a PostgreSQL in memory without a run. */
export async function openPgliteRuns() {
  const database = await openPglite();
  const runs = await PostgresRuns.open(database);
  const { signal } = new AbortController();
  return {
    database,
    runs,
    /** Loads a run over records. */
    load: async (records: readonly RunRecord[], fields: Partial<NewRun> = {}) =>
      await runs.join(newRun(records, fields), () => ReadableStream.from(records), signal),
    async allRows(run: number) {
      const rows: RunRow[] = [];
      for await (const row of runs.rows(run)) rows.push(row);
      return rows;
    },
    /** Returns the next chunk of a run. @throws if there is none. */
    async takeChunk(run: number) {
      const chunk = await runs.fetchChunk(run);
      if (chunk === null) throw new Error("There is no chunk.");
      return chunk;
    },
    [Symbol.asyncDispose]: () => runs[Symbol.asyncDispose](),
  };
}

/** Deletes all runs and answers. */
export async function forgetAll(query: Query): Promise<void> {
  await query(
    `truncate evaluator.runs, evaluator.setups, evaluator.records, evaluator.answers,
       evaluator.failures, evaluator.chunks, evaluator.workers; delete from evaluator_jobs.job`,
  );
}
