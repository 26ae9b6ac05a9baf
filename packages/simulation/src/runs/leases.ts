import type { LeasedChunk } from "evaluator-runs/postgres";
import type { RunStore } from "evaluator-runs/store-parts";
import { endOf, type FaultOf } from "../plan/fault.ts";
import type { Caller, RequestFollower } from "../service/model-service.ts";
import type { ProcessClock } from "../time/process-clock.ts";
import type { World } from "../world.ts";
import { chunkOf, chunksOf, mailIn, mailOf, timesIn } from "./mail-source.ts";
import type { Repeats } from "./repeats.ts";

// One chunk is asked and the next one read; each call in flight may keep one more.
const CHUNKS_AHEAD = 2;
// A lease lasts ten seconds; a fraction for statements on their way.
const LEASE_MS = 9500;
// A dead worker's chunk is free after its lease and a round of supervision, which other faults delay.
const RETURNED_MS = 20_000;

interface Holder {
  readonly clock: ProcessClock;
  readonly leased: LeasedChunk;
  /** When it asked for the lease, which ends after a day by the clock of the store. */
  readonly sinceMs: number;
  /** When it last had the lease for sure. */
  heldAtMs: number;
  /** Whether its records are read; calls before belong to an earlier lease of the worker. */
  isRead: boolean;
  /** How many records wait for their answers to be kept, by the mail that was asked about. */
  readonly open: Map<number, number>;
  /** The mails that it has asked about. */
  readonly asked: Set<number>;
  /** How many calls may be sent after the worker knows that the lease is lost, since they may have begun before; null before. */
  mayBeSent: number | null;
  /** How many calls it sent after another worker had the chunk. */
  late: number;
}

/**
 * Follows the leases of all workers from outside: how many chunks each has, which were lost or
 * returned, and how many calls of a lost one were in flight.
 */
export class Leases implements RequestFollower {
  readonly #world: World;
  readonly #concurrency: number;
  readonly #repeats: Repeats;
  readonly #faults: readonly FaultOf<"store">[];
  /** Who had a chunk last. */
  readonly #holders = new Map<number, Holder>();
  /** The chunks that some worker had, also those that were given back. */
  readonly #had = new Set<number>();
  /** When a process joined the run last; it opens a run that was stopped, and takes all its chunks. */
  #joinedAtMs = Number.NEGATIVE_INFINITY;
  /** The chunks that each worker has, and whose calls have not ended. */
  readonly #asking = new Map<ProcessClock, Map<LeasedChunk, Holder>>();

  constructor(world: World, concurrency: number, repeats: Repeats) {
    this.#world = world;
    this.#concurrency = concurrency;
    this.#repeats = repeats;
    this.#faults = world.plan.faults.filter(
      (fault) => fault.kind === "store" && fault.what !== "lost-notify",
    );
  }

  /** Returns the store as a worker uses it. */
  watch<TStore extends RunStore>(store: TStore, clock: ProcessClock): TStore {
    const { fetchChunk, finish, join, readChunk, reserve, touch, writer } = store;
    return Object.assign(store, {
      join: async (...run: Parameters<RunStore["join"]>) => {
        const joined = await join.apply(store, run);
        this.#joinedAtMs = clock.time.nowMs;
        return joined;
      },
      fetchChunk: async (run: number) => {
        const sentAtMs = clock.time.nowMs;
        const leased = await fetchChunk.call(store, run);
        if (leased !== null) this.#fetched(leased, clock, sentAtMs);
        return leased;
      },
      readChunk: async (leased: LeasedChunk) => {
        const chunk = await readChunk.call(store, leased);
        const holder = this.#asking.get(clock)?.get(leased);
        if (holder !== undefined) holder.isRead = true;
        return chunk;
      },
      reserve: async (leased: LeasedChunk, usd: number) => {
        const granted = await reserve.call(store, leased, usd);
        const holder = this.#asking.get(clock)?.get(leased);
        // It has begun no call before, so it begins none if the reply comes after the lease.
        const isLate = holder !== undefined && clock.time.nowMs - holder.heldAtMs > LEASE_MS;
        if (isLate && holder.asked.size === 0) holder.mayBeSent = 0;
        return granted;
      },
      touch: async (leased: LeasedChunk) => {
        const sentAtMs = clock.time.nowMs;
        const isHeld = await touch.call(store, leased);
        const holder = this.#asking.get(clock)?.get(leased);
        if (holder === undefined) return isHeld;
        if (isHeld) Object.assign(holder, { heldAtMs: sentAtMs, mayBeSent: null });
        else holder.mayBeSent ??= this.#unsent(clock);
        return isHeld;
      },
      writer: (options: Parameters<RunStore["writer"]>[0]) => {
        const kept = writer.call(store, options);
        const keep = kept.keep.bind(kept);
        return Object.assign(kept, {
          keep: async (...[end, lease]: Parameters<typeof keep>) => {
            const isHeld = await keep(end, lease);
            if (end.idx !== undefined) this.#kept(end.idx, clock, isHeld);
            return isHeld;
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

  #fetched(leased: LeasedChunk, clock: ProcessClock, sentAtMs: number): void {
    const { chunk } = leased;
    const { checks, time } = this.#world;
    const { nowMs } = time;
    const before = this.#holders.get(chunk);
    // The reply may come so late that another worker has the chunk by now.
    const isLost = before !== undefined && before.sinceMs > sentAtMs;
    if (!this.#had.has(chunk)) this.#checkReturned(chunk);
    this.#had.add(chunk);
    // Calls of a dead worker were counted when it died, and a worker asks nothing of its own twice.
    if (before !== undefined && !isLost && !before.clock.isDead && before.clock !== clock) {
      for (const held of this.#heldBy(before.clock, chunk)) this.#cutOff(held);
      const isOver = nowMs - before.heldAtMs > LEASE_MS;
      const isKnown = isOver || this.#joinedAtMs > before.heldAtMs;
      const mayTake = isKnown || this.#clockSteps(before.sinceMs);
      checks.expect("asked", mayTake, () => `chunk ${chunk} was taken from a worker that had it`);
    }
    const times = { sinceMs: sentAtMs, heldAtMs: sentAtMs };
    const calls = {
      isRead: false,
      open: new Map(),
      asked: new Set<number>(),
      mayBeSent: null,
      late: 0,
    };
    const made: Holder = { clock, leased, ...times, ...calls };
    if (!isLost) this.#holders.set(chunk, made);
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
    const { checks } = this.#world;
    const { chunk } = holder.leased;
    holder.asked.add(mail);
    holder.open.set(mail, timesIn(mail));
    // Another worker has the chunk, and this one does not know it yet, or began the call before.
    if (this.#holders.get(chunk) !== holder) {
      this.#cutOffCall(mail, timesIn(mail));
      holder.late += 1;
      const seen = () => `a worker begins ${holder.late} calls about the lost chunk ${chunk}`;
      checks.expect("asked", holder.late <= this.#concurrency, seen);
    }
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
      if (nowMs - holder.heldAtMs > LEASE_MS) holder.mayBeSent ??= this.#unsent(clock);
    }
  }

  /** Returns how many calls a worker may have begun and not sent, beside those whose answers are not kept. */
  #unsent(clock: ProcessClock): number {
    const holders = [...(this.#asking.get(clock)?.values() ?? [])];
    // Of two records with the same state, one may have ended.
    const sent = holders.flatMap(({ open }) => [...open.keys()].filter((m) => timesIn(m) === 1));
    return Math.max(0, this.#concurrency - sent.length);
  }

  /** The calls of a worker end without answers that are kept: it has died, or has given up its run. */
  end(clock: ProcessClock): void {
    for (const holder of this.#asking.get(clock)?.values() ?? []) {
      this.#cutOff(holder);
      holder.open.clear();
    }
    this.#asking.delete(clock);
  }

  #cutOff({ open }: Holder): void {
    for (const [mail, times] of open) this.#cutOffCall(mail, times);
  }

  #cutOffCall(mail: number, times: number): void {
    this.#world.tallies.of("worker").cutOff += times;
    this.#repeats.cutOff(mail, times);
  }

  #kept(idx: number, clock: ProcessClock, isHeld: boolean): void {
    this.#endLeases(clock);
    const mail = mailOf(idx);
    const holder = this.#holderOf(clock, chunkOf(idx));
    const left = (holder?.open.get(mail) ?? 0) - 1;
    if (left > 0) holder?.open.set(mail, left);
    else holder?.open.delete(mail);
    if (!isHeld && holder !== undefined) holder.mayBeSent ??= this.#unsent(clock);
  }

  /** Returns the newest lease of a worker on a chunk, of which it knows the records. */
  #holderOf(clock: ProcessClock, chunk: number): Holder | undefined {
    return this.#heldBy(clock, chunk).findLast(({ isRead }) => isRead);
  }

  /** Returns the leases of a worker on a chunk with calls that have not ended. */
  #heldBy(clock: ProcessClock, chunk: number): Holder[] {
    const holders = [...(this.#asking.get(clock)?.values() ?? [])];
    return holders.filter(({ leased }) => leased.chunk === chunk);
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
  return fault.what === "clock" || endOf(fault) >= sinceMs;
}
