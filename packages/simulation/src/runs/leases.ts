import type { LeasedChunk } from "evaluator-runs/postgres";
import type { RunStore } from "evaluator-runs/store-parts";
import type { FaultOf } from "../plan/fault.ts";
import type { ProcessClock } from "../time/process-clock.ts";
import type { World } from "../world.ts";

// One chunk is asked and the next one read; each call in flight may keep one more.
const CHUNKS_AHEAD = 2;
// A lease lasts ten seconds; a fraction for statements on their way.
const LEASE_MS = 9500;
// A worker touches its chunks each three seconds.
const NOTICED_MS = 4000;
// A dead worker's chunk is free after its lease and a round of supervision, which other faults delay.
const RETURNED_MS = 20_000;

interface Holder {
  readonly clock: ProcessClock;
  readonly leased: LeasedChunk;
  /** When it got the lease, which ends after a day by the clock of the store. */
  readonly sinceMs: number;
  /** When it last had the lease for sure. */
  heldAtMs: number;
}

/** Follows the leases of all workers from outside: how many chunks each has, and which were lost or returned. */
export class Leases {
  readonly #world: World;
  readonly #concurrency: number;
  readonly #faults: readonly FaultOf<"store">[];
  /** Who had a chunk last. */
  readonly #holders = new Map<number, Holder>();
  /** The chunks that some worker had, also those that were given back. */
  readonly #had = new Set<number>();
  /** When a process joined the run last; it opens a run that was stopped, and takes all its chunks. */
  #joinedAtMs = Number.NEGATIVE_INFINITY;
  /** The chunks that each worker has, and whose calls have not ended. */
  readonly #asking = new Map<ProcessClock, Set<LeasedChunk>>();

  constructor(world: World, concurrency: number) {
    this.#world = world;
    this.#concurrency = concurrency;
    this.#faults = world.plan.faults.filter((fault) => fault.kind === "store");
  }

  /** Returns the store as a worker uses it. */
  watch<TStore extends RunStore>(store: TStore, clock: ProcessClock): TStore {
    const { fetchChunk, finish, join, touch } = store;
    return Object.assign(store, {
      join: async (...run: Parameters<RunStore["join"]>) => {
        const joined = await join.apply(store, run);
        this.#joinedAtMs = clock.time.nowMs;
        return joined;
      },
      fetchChunk: async (run: number) => {
        const leased = await fetchChunk.call(store, run);
        if (leased !== null) this.#fetched(leased, clock);
        return leased;
      },
      touch: async (leased: LeasedChunk) => {
        const sentAtMs = clock.time.nowMs;
        const isHeld = await touch.call(store, leased);
        const holder = this.#holders.get(leased.chunk);
        if (isHeld && holder?.leased === leased) holder.heldAtMs = sentAtMs;
        return isHeld;
      },
      finish: async (leased: LeasedChunk) => {
        this.#asking.get(clock)?.delete(leased);
        // It may be given back, and be taken before the reply.
        const holder = this.#holders.get(leased.chunk);
        const isHeld = holder?.leased === leased;
        if (isHeld) holder.heldAtMs = Number.NEGATIVE_INFINITY;
        const isWhole = await finish.call(store, leased);
        if (isHeld && this.#holders.get(leased.chunk) === holder)
          this.#holders.delete(leased.chunk);
        return isWhole;
      },
    });
  }

  #fetched(leased: LeasedChunk, clock: ProcessClock): void {
    const { chunk } = leased;
    const { checks, time, tallies, plan } = this.#world;
    const { nowMs } = time;
    const before = this.#holders.get(chunk);
    if (!this.#had.has(chunk)) this.#checkReturned(chunk);
    this.#had.add(chunk);
    // Calls of a dead worker were counted when it died, and a worker asks nothing of its own twice.
    if (before !== undefined && !before.clock.isDead && before.clock !== clock) {
      const isOver = nowMs - before.heldAtMs > LEASE_MS;
      // Each of its calls in flight, and the calls after it until the worker notices a lease that ended early.
      const calls = isOver ? 1 : 1 + NOTICED_MS / (plan.service.latencyMs / 2);
      tallies.of("worker").cutOff += Math.ceil(calls) * this.#concurrency;
      const isKnown = isOver || this.#joinedAtMs > before.heldAtMs;
      const mayTake = isKnown || this.#clockSteps(before.sinceMs);
      checks.expect("asked", mayTake, () => `chunk ${chunk} was taken from a worker that had it`);
    }
    this.#holders.set(chunk, { clock, leased, sinceMs: nowMs, heldAtMs: nowMs });
    const asking = this.#asking.get(clock) ?? new Set();
    this.#asking.set(clock, asking.add(leased));
    const seen = () => `a worker has ${asking.size} chunks`;
    checks.expect("memory", asking.size <= CHUNKS_AHEAD + this.#concurrency, seen);
  }

  /** A chunk that no worker had comes after those of workers that died long ago. */
  #checkReturned(chunk: number): void {
    const { nowMs } = this.#world.time;
    const isFree = ({ clock, heldAtMs }: Holder) =>
      clock.isDead && nowMs - heldAtMs > RETURNED_MS && !this.#hasFault(heldAtMs);
    const free = [...this.#holders].find(([other, holder]) => other !== chunk && isFree(holder));
    const seen = () => `chunk ${chunk} is asked before chunk ${free?.[0]} of a dead worker`;
    this.#world.checks.expect("returned", free === undefined, seen);
  }

  #clockSteps(sinceMs: number): boolean {
    const { nowMs } = this.#world.time;
    return this.#faults.some(
      ({ what, atMs }) => what === "clock" && atMs >= sinceMs && atMs <= nowMs,
    );
  }

  #hasFault(sinceMs: number): boolean {
    const { nowMs } = this.#world.time;
    return this.#faults.some((fault) => fault.atMs <= nowMs && endsAfter(fault, sinceMs));
  }
}

function endsAfter(fault: FaultOf<"store">, sinceMs: number): boolean {
  // A clock that went back stays behind.
  return fault.what === "clock" || fault.atMs + ("forMs" in fault ? fault.forMs : 0) >= sinceMs;
}
