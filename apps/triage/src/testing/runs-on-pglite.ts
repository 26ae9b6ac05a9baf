import { PostgresRuns } from "evaluator-runs/postgres";
import { forgetAll, openPglite, type PgliteDatabase } from "evaluator-runs/testing";
import type { OpenRuns } from "evaluator-runs/commands";

/** Runs in a PostgreSQL in memory that every command of a test opens and closes. */
export interface RunsOnPglite {
  readonly openRuns: OpenRuns;
  readonly database: PgliteDatabase;
  /** Forgets all runs and answers. */
  empty(): Promise<void>;
}

/** Starts a PostgreSQL in memory for runs. */
export async function runsOnPglite(): Promise<RunsOnPglite> {
  const database = await openPglite();
  const lasting = { ...database, close: async () => {} };
  return {
    database,
    openRuns: async () => await PostgresRuns.open(lasting),
    empty: () => forgetAll(database.query),
  };
}
