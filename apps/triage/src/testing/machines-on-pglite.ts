import { afterAll, beforeAll, beforeEach } from "vitest";
import { runsOnPglite, type RunsOnPglite } from "./runs-on-pglite.ts";
import { sampleMail } from "./samples.ts";
import { startPage } from "./start-page.ts";
import { startTriage } from "./start-triage.ts";

const url = "postgres://ada:secret@db.example.com/triage";

/** Starts commands of several machines over one PostgreSQL in memory, which each test of a file finds empty. */
export function machinesOnPglite() {
  const env = { TRIAGE_JOURNAL: url };
  let pglite: RunsOnPglite;
  beforeAll(async () => {
    pglite = await runsOnPglite();
    await (await pglite.openRuns(url, { supervises: false }))[Symbol.asyncDispose]();
  });
  beforeEach(() => pglite.empty());
  afterAll(() => pglite.database.close());
  return {
    /** The variable that names the database. */
    env,
    database: () => pglite.database,
    /** Starts a command that serves a page, see `startPage`. */
    serve: (words: readonly string[], given: Parameters<typeof startTriage>[1]) => {
      const { openRuns } = pglite;
      return startPage(words, { env, openRuns, ...given });
    },
    start: (words: readonly string[], given: Parameters<typeof startTriage>[1]) => {
      const { openRuns } = pglite;
      return startTriage(words, { env, openRuns, ...given });
    },
  };
}

/** Returns mails with seven subjects. */
export function inbox(length: number) {
  return Array.from({ length }, (_, index) =>
    sampleMail({ id: `m-${index}`, subject: `About ${index % 7}` }),
  );
}
