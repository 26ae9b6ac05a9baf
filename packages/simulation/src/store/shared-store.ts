import type { RunStore } from "evaluator-runs/store-parts";
import type { StoreConnection } from "../store-faults.ts";
import type { ProcessClock } from "../time/process-clock.ts";
import type { World } from "../world.ts";
import { lostConnection, MemoryDatabase } from "./memory-database.ts";
import { memoryRuns } from "./memory-runs.ts";

/** A store of runs that processes share, with the faults of the plan. */
export interface SharedStore {
  /** Opens a session of a process. */
  openRuns(clock: ProcessClock, supervises: boolean): Promise<RunStore>;
  /** Opens a session that no fault meets. */
  openReader(): Promise<RunStore>;
  /** Returns the digests of the committed answers by their keys. */
  digests(): Promise<Iterable<readonly [key: string, digest: string]>>;
  /** Ends all sessions, also in the middle of a statement. */
  close(): Promise<void>;
}

/** The store in memory. */
export class MemoryStore implements SharedStore {
  readonly #connection: StoreConnection;
  readonly #clock: ProcessClock;
  readonly #database: MemoryDatabase;

  constructor(world: World, connection: StoreConnection) {
    const { plan, time, newId } = world;
    this.#connection = connection;
    this.#clock = world.machineClock();
    this.#database = new MemoryDatabase({ clock: this.#clock, newId });
    for (const fault of plan.faults) {
      if (fault.kind !== "store") continue;
      if (fault.what === "restart") time.schedule(fault.atMs, () => this.#database.restart());
      if (fault.what === "clock") {
        time.schedule(fault.atMs, () => this.#database.stepClock(fault.byMs));
      }
    }
  }

  async openRuns(clock: ProcessClock, supervises: boolean): Promise<RunStore> {
    const carry = <TResult>(call: () => Promise<TResult>) =>
      this.#connection.call(clock, call, lostConnection);
    const session = memoryRuns({ database: this.#database, clock, carry, supervises });
    clock.onDeath(() => session.disconnect());
    if (supervises) await session.supervise();
    return session;
  }

  async openReader(): Promise<RunStore> {
    return memoryRuns({ database: this.#database, clock: this.#clock });
  }

  async digests() {
    const { answers } = this.#database.tables;
    return [...answers].map(([key, { digest }]) => [key, digest] as const);
  }

  async close(): Promise<void> {}
}
