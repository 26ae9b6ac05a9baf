import type { Clock } from "evaluator-kit";
import { PostgresRuns } from "evaluator-runs/postgres";
import {
  DrivenClock,
  forgetAll,
  openPglite,
  outsideChanges,
  type PgliteDatabase,
} from "evaluator-runs/testing";
import { MemoryDatabase } from "../store/memory-database.ts";
import { memoryRuns } from "../store/memory-runs.ts";
import { ProcessClock } from "../time/process-clock.ts";
import { VirtualTime } from "../time/virtual-time.ts";
import { changesOf } from "./memory-store.ts";
import type { PlayedStore } from "./store-calls.ts";

const START_MS = Date.UTC(2026, 10, 21, 12);
/** How often dead workers are looked for. */
const SUPERVISE_MS = 2000;

/** For calls that follow each other: short waits end at once, and no call is late. */
const noWaits: Clock = {
  now: () => 0,
  epochNow: () => START_MS,
  schedule(delayMs, callback) {
    if (delayMs >= 1000) return () => {};
    const immediate = setImmediate(callback);
    return () => clearImmediate(immediate);
  },
};

/** A PostgreSQL in memory, and a store in memory, that the same calls are played to. */
export class PlayedStores {
  readonly #database: PgliteDatabase;
  readonly #clock: DrivenClock;
  readonly #sessions: readonly PostgresRuns[];
  readonly #driving: PostgresRuns;
  #passedMs = 0;
  #aheadMs = 0;

  private constructor(
    database: PgliteDatabase,
    clock: DrivenClock,
    [driving, ...sessions]: [PostgresRuns, ...PostgresRuns[]],
  ) {
    this.#database = database;
    this.#clock = clock;
    this.#driving = driving;
    this.#sessions = sessions;
  }

  static async open(): Promise<PlayedStores> {
    const database = await openPglite();
    const clock = new DrivenClock(START_MS);
    const driving = await PostgresRuns.open(database, { supervises: true, queueClock: clock });
    const open = async () => await PostgresRuns.open(database, { clock: noWaits });
    return new PlayedStores(database, clock, [driving, await open(), await open(), await open()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of [...this.#sessions, this.#driving]) await session[Symbol.asyncDispose]();
  }

  /** Returns the PostgreSQL, without a run. */
  async postgres(): Promise<PlayedStore> {
    // Both look for dead workers at the same times.
    const lateMs = this.#passedMs % SUPERVISE_MS;
    if (lateMs > 0) await this.#passTime(SUPERVISE_MS - lateMs);
    await this.#stepClock(-this.#aheadMs);
    await forgetAll(this.#database.query);
    await this.#database.query("delete from evaluator_jobs.queue");
    return {
      sessions: this.#sessions,
      leases: [],
      ...outsideChanges(this.#database.query),
      passTime: (ms) => this.#passTime(ms),
      stepClock: (ms) => this.#stepClock(ms),
    };
  }

  async #passTime(ms: number): Promise<void> {
    this.#passedMs += ms;
    await this.#clock.tick(ms);
  }

  async #stepClock(ms: number): Promise<void> {
    this.#aheadMs += ms;
    await this.#clock.stepServer(ms);
  }

  /** Returns a new store in memory, whose clock is that of the PostgreSQL. */
  memory(): PlayedStore {
    const time = new VirtualTime();
    const startMs = this.#clock.now();
    const clock = { ...noWaits, epochNow: () => startMs + time.nowMs };
    let ids = 0;
    const database = new MemoryDatabase({ clock, newId: () => `job-${(ids += 1)}` });
    memoryRuns({ database, clock: new ProcessClock(time), supervises: true });
    return {
      sessions: [1, 2, 3].map(() => memoryRuns({ database, clock })),
      leases: [],
      ...changesOf(database),
      async passTime(ms) {
        let isOver = false;
        // After all that is due at the same time.
        const passing = time
          .wait(ms)
          .then(() => time.wait(0))
          .then(() => (isOver = true));
        await time.run(() => isOver);
        await passing;
      },
      stepClock: async (ms) => database.stepClock(ms),
    };
  }
}
