import type { LeasedChunk } from "evaluator-runs/postgres";
import type { RunStore } from "evaluator-runs/store-parts";
import type { FaultOf } from "../plan/fault.ts";
import type { Caller, RequestFollower } from "../service/model-service.ts";
import type { ProcessClock } from "../time/process-clock.ts";
import type { World } from "../world.ts";
import { chunkOf, chunksOf, mailIn, mailOf, timesIn } from "./mail-source.ts";

// One chunk is asked and the next one read; each call in flight may keep one more.
const CHUNKS_AHEAD = 2;
// A lease lasts ten seconds; a fraction for statements on their way.
const LEASE_MS = 9500;
// A dead worker's chunk is free after its lease and a round of supervision, which other faults delay.
const RETURNED_MS = 20_000;
// A worker that was alone and is started again frees chunks in its first rounds.
const SUPERVISED_MS = 5000;

interface Holder {
  readonly clock: ProcessClock;
  readonly leased: LeasedChunk;
  /** When it got the lease, which ends after a day by the clock of the store. */
  readonly sinceMs: number;
  /** When it last had the lease for sure. */
  heldAtMs: number;
  /** How many records wait for their answers to be kept, by the mail that was asked about. */
  readonly open: Map<number, number>;
  /** The mails that it has asked about. */
  readonly asked: Set<number>;
  /** The calls that may be sent after the lease, since they were begun before; null during it. */
  mayBeSent: number | null;
}

/**
 * Follows the leases of all workers from outside: how many chunks each has, which were lost or
 * returned, and how many calls of a lost one were in flight.
 */
export class Leases implements RequestFollower {
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
  readonly #asking = new Map<ProcessClock, Map<LeasedChunk, Holder>>();

  constructor(world: World, concurrency: number) {
    this.#world = world;
    this.#concurrency = concurrency;
    this.#faults = world.plan.faults.filter(
      (fault) => fault.kind === "store" && fault.what !== "lost-notify",
    );
  }

  /** Returns the store as a worker uses it. */
  watch<TStore extends RunStore>(store: TStore, clock: ProcessClock): TStore {
    const { fetchChunk, finish, join, touch, writer } = store;
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
        const holder = this.#asking.get(clock)?.get(leased);
        if (isHeld && holder !== undefined) {
          Object.assign(holder, { heldAtMs: sentAtMs, mayBeSent: null });
        }
        return isHeld;
      },
      writer: (options: Parameters<RunStore["writer"]>[0]) => {
        const kept = writer.call(store, options);
        const keep = kept.keep.bind(kept);
        return Object.assign(kept, {
          keep: async (end: Parameters<typeof keep>[0]) => {
            await keep(end);
            if (end.idx !== undefined) this.#kept(end.idx, clock);
          },
        });
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
    const { checks, time, tallies } = this.#world;
    const { nowMs } = time;
    const before = this.#holders.get(chunk);
    const isNew = !this.#had.has(chunk);
    if (isNew && clock.now() > SUPERVISED_MS) this.#checkReturned(chunk);
    this.#had.add(chunk);
    // Calls of a dead worker were counted when it died, and a worker asks nothing of its own twice.
    if (before !== undefined && !before.clock.isDead && before.clock !== clock) {
      tallies.of("worker").cutOff += openOf(before);
      const isOver = nowMs - before.heldAtMs > LEASE_MS;
      const isKnown = isOver || this.#joinedAtMs > before.heldAtMs;
      const mayTake = isKnown || this.#clockSteps(before.sinceMs);
      checks.expect("asked", mayTake, () => `chunk ${chunk} was taken from a worker that had it`);
    }
    const times = { sinceMs: nowMs, heldAtMs: nowMs };
    // A worker that gets its chunk back may still have calls of its first lease.
    const open = before?.clock === clock ? before.open : new Map<number, number>();
    const holder = { clock, leased, ...times, open, asked: new Set<number>() };
    const made: Holder = { ...holder, mayBeSent: null };
    this.#holders.set(chunk, made);
    const asking = this.#asking.get(clock) ?? new Map<LeasedChunk, Holder>();
    this.#asking.set(clock, asking.set(leased, made));
    const seen = () => `a worker has ${asking.size} chunks`;
    checks.expect("memory", asking.size <= CHUNKS_AHEAD + this.#concurrency, seen);
  }

  sent({ clock }: Caller, body: string): void {
    this.#endLeases(clock);
    const mail = mailIn(body);
    for (const chunk of chunksOf(mail)) {
      const holder = this.#holderOf(clock, chunk);
      if (holder !== undefined && !holder.asked.has(mail)) this.#asks(holder, mail);
    }
  }

  #asks(holder: Holder, mail: number): void {
    const { checks, tallies } = this.#world;
    const { chunk } = holder.leased;
    holder.asked.add(mail);
    holder.open.set(mail, timesIn(mail));
    // The lease ended early, by a step of the store's clock or as the run was opened again.
    if (this.#holders.get(chunk) !== holder) tallies.of("worker").cutOff += timesIn(mail);
    if (holder.mayBeSent === null) return;
    holder.mayBeSent -= 1;
    const isBegun = holder.mayBeSent >= 0;
    checks.expect("asked", isBegun, () => `a call about chunk ${chunk} begins after its lease`);
  }

  /** Notes for the leases that ended how many calls the worker may have begun before. */
  #endLeases(clock: ProcessClock): void {
    const holders = [...(this.#asking.get(clock)?.values() ?? [])];
    const { nowMs } = this.#world.time;
    for (const holder of holders) {
      if (nowMs - holder.heldAtMs > LEASE_MS) holder.mayBeSent ??= this.#concurrency;
    }
  }

  /** Returns how many calls of a worker are in flight; those with answers that are not kept are some of them. */
  inFlight(clock: ProcessClock): number {
    const holders = [...(this.#asking.get(clock)?.values() ?? [])];
    const open = holders.reduce((sum, holder) => sum + openOf(holder), 0);
    return Math.min(this.#concurrency, open);
  }

  #kept(idx: number, clock: ProcessClock): void {
    this.#endLeases(clock);
    const mail = mailOf(idx);
    const open = this.#holderOf(clock, chunkOf(idx))?.open;
    const left = (open?.get(mail) ?? 0) - 1;
    if (left > 0) open?.set(mail, left);
    else open?.delete(mail);
  }

  /** Returns the newest lease of a worker on a chunk. */
  #holderOf(clock: ProcessClock, chunk: number): Holder | undefined {
    const holders = [...(this.#asking.get(clock)?.values() ?? [])];
    return holders.findLast(({ leased }) => leased.chunk === chunk);
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

function openOf({ open }: Holder): number {
  return [...open.values()].reduce((sum, count) => sum + count, 0);
}

function endsAfter(fault: FaultOf<"store">, sinceMs: number): boolean {
  // A clock that went back stays behind.
  return fault.what === "clock" || fault.atMs + ("forMs" in fault ? fault.forMs : 0) >= sinceMs;
}
