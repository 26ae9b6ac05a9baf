import type { StoreUnderTest } from "evaluator-runs/contract";
import { toRunKey } from "evaluator-runs/store-parts";
import { onTestFinished } from "vitest";
import { lostConnection, MemoryDatabase } from "../store/memory-database.ts";
import { memoryRuns } from "../store/memory-runs.ts";
import type { Carry, SessionOptions, StoreStatement } from "../store/memory-session.ts";
import { ProcessClock } from "../time/process-clock.ts";
import { VirtualTime } from "../time/virtual-time.ts";

/** Starts virtual time that moves on by itself until the test ends. */
function startTime(): VirtualTime {
  const time = new VirtualTime();
  const { signal } = endOfTest();
  const run = async () => {
    while (!signal.aborted) await time.run(() => signal.aborted);
  };
  void run();
  return time;
}

function endOfTest(): AbortController {
  const end = new AbortController();
  onTestFinished(() => end.abort());
  return end;
}

/** What happens to a statement on its way. */
export type Fate = "done" | "lost-before" | "lost-after";

/** Returns a connection that loses statements, or their replies. */
export function losing(fateOf: (statement: StoreStatement) => Fate): Carry {
  return async (call, statement) => {
    const fate = fateOf(statement);
    if (fate === "lost-before") throw lostConnection();
    const result = await call();
    if (fate === "lost-after") throw lostConnection();
    return result;
  };
}

/** Returns an empty store in memory for one test. */
export function startMemoryStore() {
  const time = startTime();
  const clock = new ProcessClock(time);
  let ids = 0;
  const database = new MemoryDatabase({ clock, newId: () => `job-${(ids += 1)}` });
  const open = (options: Partial<SessionOptions> = {}) => {
    const session = memoryRuns({ database, clock, ...options });
    onTestFinished(() => session.disconnect());
    return session;
  };
  return {
    time,
    database,
    open,
    runs: open(),
    isConcurrent: true,
    openSession: async ({ supervises = false } = {}) => {
      const session = open({ supervises });
      if (supervises) await session.supervise();
      return session;
    },
    ...changesOf(database),
    async passTime(ms) {
      await time.wait(ms);
      await time.wait(0); // after all that is due at that time
    },
    stepClock: async (ms) => database.stepClock(ms),
  } satisfies StoreUnderTest & Record<string, unknown>;
}

/** Returns the changes to a store in memory that are made from outside. */
export function changesOf(database: MemoryDatabase) {
  const { answers, records } = database.tables;
  return {
    async changeAnswer(call: string) {
      const key = toRunKey(call);
      const answer = answers.get(key);
      if (answer !== undefined) answers.set(key, { ...answer, evaluation: "1" });
    },
    async changeState(run: number, idx: number) {
      const rows = records.get(run) ?? [];
      const row = rows[idx];
      if (row !== undefined) records.set(run, rows.with(idx, { ...row, state: "1" }));
    },
    forgetRun: (run: number) => database.forgetRun(run),
  };
}
