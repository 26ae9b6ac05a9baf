import type { LeasedChunk } from "evaluator-runs/postgres";
import type { RunStore } from "evaluator-runs/store-parts";
import type { ProcessClock } from "../time/process-clock.ts";
import type { World } from "../world.ts";

// One chunk is asked, the next is read, and calls of those before may be in flight.
const MOST_CHUNKS = 3;

/** Follows the leases of all workers from outside: how many chunks each has, and which were lost or returned. */
export class Leases {
  readonly #world: World;
  readonly #concurrency: number;
  /** Who had a chunk last. */
  readonly #holders = new Map<number, ProcessClock>();
  /** The chunks that each worker has, and whose calls have not ended. */
  readonly #asking = new Map<ProcessClock, Set<number>>();

  constructor(world: World, concurrency: number) {
    this.#world = world;
    this.#concurrency = concurrency;
  }

  /** Returns the store as a worker uses it. */
  watch<TStore extends RunStore>(store: TStore, clock: ProcessClock): TStore {
    const { fetchChunk, finish } = store;
    return Object.assign(store, {
      fetchChunk: async (run: number) => {
        const leased = await fetchChunk.call(store, run);
        if (leased !== null) this.#fetched(leased, clock);
        return leased;
      },
      finish: async (leased: LeasedChunk) => {
        this.#asking.get(clock)?.delete(leased.chunk);
        const isWhole = await finish.call(store, leased);
        if (this.#holders.get(leased.chunk) === clock) this.#holders.delete(leased.chunk);
        return isWhole;
      },
    });
  }

  #fetched({ chunk }: LeasedChunk, clock: ProcessClock): void {
    const before = this.#holders.get(chunk);
    // A worker that lives has lost its lease; calls of a dead one were counted when it died.
    if (before !== undefined && !before.isDead) this.#world.cutOff += this.#concurrency;
    this.#holders.set(chunk, clock);
    const asking = this.#asking.get(clock) ?? new Set();
    this.#asking.set(clock, asking.add(chunk));
    const seen = () => `a worker has ${asking.size} chunks`;
    this.#world.checks.expect("memory", asking.size <= MOST_CHUNKS, seen);
  }
}
