import { afterAll, beforeAll, beforeEach } from "vitest";
import { PostgresRuns } from "../postgres/postgres-runs.ts";
import { openPglite, type PgliteDatabase } from "./pglite-database.ts";
import { forgetAll } from "./pglite-runs.ts";
import type { Start, StartContext } from "./start-in-process.ts";
import { startPage } from "./start-page.ts";

const url = "postgres://ada:secret@db.example.com/runs";

/**
 * Starts commands of several machines over one PostgreSQL in memory, which each test of a file finds empty.
 * `variable` names the journal.
 */
export function createMachines(start: Start, variable: string) {
  const env = { [variable]: url };
  let database: PgliteDatabase;
  const openRuns = async () => await PostgresRuns.open({ ...database, close: async () => {} });
  beforeAll(async () => {
    database = await openPglite();
    await (await openRuns())[Symbol.asyncDispose]();
  });
  beforeEach(() => forgetAll(database.query));
  afterAll(() => database.close());
  return {
    /** The variable that names the database. */
    env,
    openRuns,
    database: () => database,
    start: (words: readonly string[], given: StartContext) =>
      start(words, { env, openRuns, ...given }),
    /** Starts a command that serves a page, see `startPage`. */
    serve: (words: readonly string[], given: StartContext) =>
      startPage(start, words, { env, openRuns, ...given }),
  };
}
