import { type PostgresRuns, openDatabase, postgresRuns } from "evaluator-runs/postgres";
import { afterAll, beforeAll, describe, inject, onTestFinished } from "vitest";
import { testRunStore } from "../src/testing/contract/index.ts";
import { createDatabase } from "../src/testing/make-database.ts";
import { forgetAll, outsideChanges } from "../src/testing/pglite-runs.ts";

const serverUrl = inject("postgresUrl");

describe.skipIf(serverUrl === null)("on a real server", () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let runs: PostgresRuns;
  beforeAll(async () => {
    database = await createDatabase(serverUrl ?? "");
    runs = await postgresRuns(database.url);
  });
  afterAll(async () => {
    await runs[Symbol.asyncDispose]();
    await database.drop();
  });

  const open = async () => {
    const admin = openDatabase(database.url);
    onTestFinished(() => admin.close());
    await forgetAll(admin.query);
    return {
      runs,
      isConcurrent: true,
      ...outsideChanges(admin.query),
      async openSession(options = {}) {
        const session = await postgresRuns(database.url, options);
        onTestFinished(() => session[Symbol.asyncDispose]());
        return session;
      },
    };
  };
  testRunStore(open, { hasClock: false });
});
