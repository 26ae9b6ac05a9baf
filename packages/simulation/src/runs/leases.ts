import type { LeasedChunk } from "evaluator-runs/postgres";
import type { RunStore } from "evaluator-runs/store-parts";
import { endOf, type FaultOf } from "../plan/fault.ts";
import type { Caller, RequestFollower } from "../service/model-service.ts";
import type { ProcessClock } from "../time/process-clock.ts";
import type { World } from "../world.ts";
import { chunkOf, mailOf, REPEATED_AFTER, timesIn } from "./mail-source.ts";
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
  /** The records that it has not asked about; null before they are read. */
  left: Set<number> | null;
  /** How many calls wait for their answers to be kept, by the mail that they are about. */
  readonly open: Map<number, number>;
  /** How many calls may be sent after the worker knows that the lease is lost, since they may have begun before; null before. */
  mayBeSent: number | null;
  /** The calls that were in flight when another worker got the chunk, and those sent since; null before. */
  lost: number | null;
  /** How many calls the worker had in flight then, of all its chunks. */
  inFlight: number;
  /** Whether its cost is reserved, or need not be; its calls begin only then. */
  isReserved: boolean;
}

/**
 * Follows the leases of all workers from outside: how many chunks each has, which were lost or
 * returned, and how many calls of a lost one were in flight.
 */
export class Leases implements RequestFollower {
  readonly #world: World;
  readonly #run: { readonly concurrency: number; readonly isCapped: boolean };
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

  /** @param run - `isCapped`: it has a maximum cost. */
  constructor(world: World, run: { concurrency: number; isCapped: boolean }, repeats: Repeats) {
    this.#world = world;
    this.#run = run;
    this.#repeats = repeats;
    this.#faults = world.plan.faults.filter(
      (fault) => fault.kind === "store" && fault.what !== "lost-notify",
    );
  }

  /** Returns the store as a worker uses it. */
  watch<TStore extends RunStore>(store: TStore, clock: ProcessClock): TStore {
    const own: Pick<RunStore, keyof RunStore> = store;
    const { fetchChunk, finish, join, readChunk, reserve, touch, writer } = own;
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
        if (holder === undefined) return chunk;
        holder.left = new Set(chunk.missing.map(({ idx }) => idx));
        if (!this.#run.isCapped) this.#reserved(holder);
        return chunk;
      },
      reserve: async (leased: LeasedChunk, usd: number) => {
        const granted = await reserve.call(store, leased, usd);
        const holder = this.#asking.get(clock)?.get(leased);
        if (holder !== undefined) this.#reserved(holder);
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
      finish: async (leased: LeasedChunk, spentUsd: number) => {
        this.#asking.get(clock)?.delete(leased);
        // It may be given back, and be taken before the reply.
        const holder = this.#holders.get(leased.chunk);
        const isHeld = holder?.leased === leased;
        if (isHeld) holder.heldAtMs = Number.NEGATIVE_INFINITY;
        const isWhole = await finish.call(store, leased, spentUsd);
        if (isHeld && this.#holders.get(leased.chunk) === holder)
          this.#holders.delete(leased.chunk);
        return isWhole;
      },
    });
  }

  /** A worker that has begun no call before begins none if the reply comes after its lease. */
  #reserved(holder: Holder): void {
    const isLate = holder.clock.time.nowMs - holder.heldAtMs > LEASE_MS;
    if (isLate && !holder.isReserved) holder.mayBeSent = 0;
    holder.isReserved = true;
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
      for (const held of this.#heldBy(before.clock, chunk)) this.#lose(held);
      const isOver = nowMs - before.heldAtMs > LEASE_MS;
      const isKnown = isOver || this.#joinedAtMs > before.heldAtMs;
      const mayTake = isKnown || this.#clockSteps(before.sinceMs);
      checks.expect("asked", mayTake, () => `chunk ${chunk} was taken from a worker that had it`);
    }
    const times = { sinceMs: sentAtMs, heldAtMs: sentAtMs };
    const calls = { left: null, open: new Map(), isReserved: false };
    const ended = { mayBeSent: null, lost: null, inFlight: 0 };
    const made: Holder = { clock, leased, ...times, ...calls, ...ended };
    if (isLost) this.#lose(made);
    if (!isLost) this.#holders.set(chunk, made);
    const asking = this.#asking.get(clock) ?? new Map<LeasedChunk, Holder>();
    this.#asking.set(clock, asking.set(leased, made));
    const seen = () => `a worker has ${asking.size} chunks`;
    checks.expect("memory", asking.size <= CHUNKS_AHEAD + this.#run.concurrency, seen);
  }

  #lose(holder: Holder): void {
    this.#cutOff(holder);
    // A worker that has not heard yet that it got the chunk, or still reads it, begins its calls later.
    const most = holder.isReserved ? this.#mostInFlight(holder.clock) : this.#run.concurrency;
    if (holder.lost === null) holder.inFlight = most;
    holder.lost ??= inFlight(holder);
  }

  asks({ clock }: Caller, mail: number): void {
    this.#endLeases(clock);
    const { checks } = this.#world;
    const [holder, idx] = this.#leftOf(clock, mail);
    const isKnown = holder !== undefined || timesIn(mail) > 1;
    checks.expect("asked", isKnown, () => `mail ${mail} is of no chunk of a worker`);
    // Of two records with one state, the call before was about that of a lost chunk.
    if (holder === undefined) return this.#cutOffCall(mail, 1);
    holder.left?.delete(idx);
    holder.open.set(mail, (holder.open.get(mail) ?? 0) + 1);
    const { chunk } = holder.leased;
    // Another worker has the chunk. This call was in flight then, or follows one of another chunk, or
    // one whose answer was committed before.
    if (holder.lost !== null) {
      this.#cutOffCall(mail, 1);
      const lost = (holder.lost += 1);
      const seen = () =>
        `${lost} calls about the lost chunk ${chunk} > ${holder.inFlight} in flight`;
      checks.expect("asked", lost <= holder.inFlight, seen);
    }
    if (holder.mayBeSent === null) return;
    holder.mayBeSent -= 1;
    const isBegun = holder.mayBeSent >= 0;
    checks.expect("asked", isBegun, () => `a call about chunk ${chunk} begins after its lease`);
  }

  /** Notes for the leases that ended how many calls the worker may have begun before. */
  #endLeases(clock: ProcessClock): void {
    const { nowMs } = this.#world.time;
    for (const holder of this.#holdersOf(clock)) {
      if (nowMs - holder.heldAtMs > LEASE_MS) holder.mayBeSent ??= this.#unsent(clock);
    }
  }

  /** Returns how many calls a worker may have begun and not sent. */
  #unsent(clock: ProcessClock): number {
    return this.#mostInFlight(clock) - this.#sent(clock);
  }

  /** Returns how many calls a worker has sent whose answers are not kept. */
  #sent(clock: ProcessClock): number {
    return this.#holdersOf(clock).reduce((sum, holder) => sum + inFlight(holder), 0);
  }

  /** Returns how many calls of a worker are in flight at most: those that it sent, and others that may wait for the pacer. */
  #mostInFlight(clock: ProcessClock): number {
    const left = this.#holdersOf(clock).reduce(
      (sum, { isReserved, left }) => sum + (isReserved ? (left?.size ?? 0) : 0),
      0,
    );
    return Math.min(this.#run.concurrency, this.#sent(clock) + left);
  }

  /** The calls of a worker end without answers that are kept: it has died, or has given up its run. */
  end(clock: ProcessClock): void {
    for (const holder of this.#holdersOf(clock)) {
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
    const holder = this.#openOf(clock, idx);
    const left = (holder?.open.get(mail) ?? 0) - 1;
    if (isHeld && holder !== undefined && holder.lost !== null) {
      // The answer was committed before the lease was lost.
      holder.lost -= 1;
      this.#cutOffCall(mail, -1);
    }
    if (left > 0) holder?.open.set(mail, left);
    else holder?.open.delete(mail);
    if (!isHeld && holder !== undefined) holder.mayBeSent ??= this.#unsent(clock);
  }

  /** Returns the lease of a worker to which a new call about a mail belongs, and the record. */
  #leftOf(clock: ProcessClock, mail: number): readonly [Holder | undefined, number] {
    const records = [mail, mail + REPEATED_AFTER].filter((idx) => mailOf(idx) === mail);
    const found = this.#holdersOf(clock)
      .flatMap((holder) => records.map((idx) => [holder, idx] as const))
      .filter(([holder, idx]) => holder.left?.has(idx));
    // Of two chunks with the same state, a lost one may be given up.
    return found.find(([{ lost }]) => lost === null) ?? found[0] ?? [undefined, mail];
  }

  /** Returns the lease of a worker in which a call about a record waits for its answer to be kept. */
  #openOf(clock: ProcessClock, idx: number): Holder | undefined {
    return this.#heldBy(clock, chunkOf(idx)).find(({ open }) => open.has(mailOf(idx)));
  }

  /** Returns the leases of a worker with calls that have not ended. */
  #holdersOf(clock: ProcessClock): Holder[] {
    return [...(this.#asking.get(clock)?.values() ?? [])];
  }

  /** Returns the leases of a worker on a chunk with calls that have not ended. */
  #heldBy(clock: ProcessClock, chunk: number): Holder[] {
    return this.#holdersOf(clock).filter(({ leased }) => leased.chunk === chunk);
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

/** Returns how many calls wait for their answers to be kept. */
function inFlight({ open }: Holder): number {
  return [...open.values()].reduce((sum, calls) => sum + calls, 0);
}

function endsAfter(fault: FaultOf<"store">, sinceMs: number): boolean {
  // A clock that went back stays behind.
  return fault.what === "clock" || endOf(fault) >= sinceMs;
}
