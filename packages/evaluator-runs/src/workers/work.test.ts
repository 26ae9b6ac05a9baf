import type { Clock } from "evaluator-kit";
import { DatabaseError, type DatabaseFailure, PostgresRuns } from "../postgres/index.ts";
import { openPglite, type PgliteDatabase } from "../testing/index.ts";
import { beforeEach, expect, test } from "vitest";
import { startTickets, stoppedClock } from "../testing/tickets/start-tickets.ts";

const env = { TICKETS_JOURNAL: "postgres://ada:secret@db.example.com/triage" };
let failure: DatabaseFailure | null = null;
let database: PgliteDatabase;

beforeEach(async () => {
  failure = null;
  database = await openPglite();
});

/** Opens runs in a database that fails as long as a failure is set. */
async function openRuns(): Promise<PostgresRuns> {
  const query: typeof database.query = async (...statement) => {
    if (failure !== null) throw new DatabaseError(`It is ${failure}.`, { failure });
    return await database.query(...statement);
  };
  return await PostgresRuns.open({ ...database, query });
}

/** Starts a worker on a clock whose waits end at once, after a step that is told their number. */
async function startWork(words: readonly string[], onWait: (waits: number) => void = () => {}) {
  const controller = new AbortController();
  const waits: number[] = [];
  const clock: Clock = {
    ...stoppedClock,
    schedule(delayMs, callback) {
      onWait(waits.push(delayMs));
      if (waits.length === 6) controller.abort(new Error("enough"));
      const timer = setImmediate(callback);
      return () => clearImmediate(timer);
    },
  };
  const { signal } = controller;
  const outcome = await startTickets(["work", ...words], { env, openRuns, clock, signal });
  return { ...outcome, waits };
}

test("work --wait tries each second while the database is away, and says so once each time", async () => {
  failure = "unreachable";
  const { exitCode, stderr, waits } = await startWork(["--wait"], (count) => {
    // There after two tries, with nothing to do, and away again until the end.
    failure = count === 2 || count === 3 ? null : "busy";
    if (count === 1) failure = "unreachable";
  });
  expect([exitCode, waits]).toEqual([130, Array(6).fill(1000)]);
  expect(stderr).toBe(
    "Engine: unknown through gateway.\nWaiting: It is unreachable.\nWaiting: It is busy.\n" +
      "Interrupted; every answer is kept.\n",
  );
});

test.each<[DatabaseFailure, string[]]>([
  ["unreachable", []],
  ["denied", []],
  ["denied", ["--wait"]],
])("a database that is %s ends work %j at once", async (why, words) => {
  failure = why;
  const { exitCode, stderr, waits } = await startWork(words);
  expect([exitCode, waits]).toEqual([1, []]);
  expect(stderr).toContain(`The journal in PostgreSQL cannot be used: It is ${why}.`);
});
