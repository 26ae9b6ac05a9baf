import type { Clock } from "evaluator-kit";
import { toDatabaseError } from "evaluator-runs/store-parts";
import { ChunkJobs } from "./chunk-jobs.ts";
import { Tables } from "./tables.ts";

/** The load of a run in one transaction, which holds the run until it ends. */
export interface Load {
  readonly run: number;
  readonly ended: PromiseWithResolvers<void>;
  /** Whether it committed, was rolled back, or its connection was lost. */
  isOver: boolean;
}

/** A store of runs in memory that sessions share: it lives on when a process dies. */
export class MemoryDatabase {
  readonly tables = new Tables();
  readonly jobs: ChunkJobs;
  readonly #clock: Clock;
  readonly #loads = new Map<number, Load>();
  #aheadMs = 0;
  /** How often it was started again. */
  restarts = 0;

  /** @param options - `clock`: of the store's machine. */
  constructor({ clock, newId }: { readonly clock: Clock; readonly newId: () => string }) {
    this.#clock = clock;
    this.jobs = new ChunkJobs(newId);
  }

  /** Milliseconds since the epoch, by the clock of the store. */
  now(): number {
    return this.#clock.epochNow() + this.#aheadMs;
  }

  /** Sets the clock forwards or backwards. */
  stepClock(ms: number): void {
    this.#aheadMs += ms;
  }

  /** Cuts all connections; statements that did not commit are lost. */
  restart(): void {
    this.restarts += 1;
    for (const load of this.#loads.values()) this.endLoad(load);
  }

  /** Begins to load a run; null if another session does. */
  beginLoad(run: number): Load | null {
    if (this.#loads.has(run)) return null;
    const load = { run, ended: Promise.withResolvers<void>(), isOver: false };
    this.#loads.set(run, load);
    return load;
  }

  /** Ends a load, and lets those continue that wait for its run. */
  endLoad(load: Load): void {
    if (load.isOver) return;
    load.isOver = true;
    this.#loads.delete(load.run);
    load.ended.resolve();
  }

  /** Waits until no load holds a run, as a statement does that changes its row. */
  async lockRun(run: number): Promise<void> {
    const { restarts } = this;
    for (let load = this.#loads.get(run); load !== undefined; load = this.#loads.get(run)) {
      await load.ended.promise;
    }
    if (restarts !== this.restarts) throw lostConnection();
  }

  /** Removes a run; its answers stay. */
  async forgetRun(run: number): Promise<void> {
    await this.lockRun(run);
    this.tables.forget(run);
  }
}

/** Returns the error of a connection that was cut, or not made. */
export function lostConnection(): Error {
  return toDatabaseError({ code: "ECONNRESET" });
}
