import type { LeasedChunk } from "evaluator-runs/postgres";
import type { RunStore, RunWriter } from "evaluator-runs/store-parts";
import type { Caller, RequestFollower } from "../service/model-service.ts";
import type { ProcessClock } from "../time/process-clock.ts";
import type { World } from "../world.ts";
import { chunkOf, chunksOf, estimateUsd, mailIn, mailOf } from "./mail-source.ts";

/** The cost of a call, in US dollars. */
interface Cost {
  readonly mail: number;
  readonly usd: number;
}

/** A worker in one of its runs. */
interface Worker {
  /** The chunks that it has read, the last one first. */
  readonly read: Reserved[];
  /** When a reply of the store reached it last: calls begin only then. */
  wokenAtMs: number;
  /** The answers that were kept, and their cost in US dollars. */
  answers: number;
  costUsd: number;
}

/** A chunk that a worker has read, and its cost in US dollars. */
interface Reserved {
  readonly leased: LeasedChunk;
  /** What was granted last, and at most. */
  usd: number;
  mostUsd: number;
  /** The records that it is to ask about, and the cost of the others. */
  readonly records: readonly number[];
  readonly beforeUsd: number;
  /** How many records have got an end since. */
  ended: number;
  /** The answers that were kept since. */
  readonly kept: Cost[];
  /** The mails that were asked about, and those whose answers are not kept. */
  readonly asked: Set<number>;
  readonly open: Set<number>;
}

/** Follows the cost that workers reserve for their chunks: no call begins that is not reserved. */
export class Reservations implements RequestFollower {
  readonly #world: World;
  readonly #run: { readonly concurrency: number; readonly maxUsd: number };
  readonly #workers = new Map<ProcessClock, Worker>();

  constructor(world: World, run: { readonly concurrency: number; readonly maxUsd: number }) {
    this.#world = world;
    this.#run = run;
  }

  /** Returns the store as a worker uses it in one run. */
  watch<TStore extends RunStore>(store: TStore, clock: ProcessClock): TStore {
    const own: Pick<RunStore, keyof RunStore> = store;
    const { readChunk, reserve, writer } = own;
    const worker: Worker = { read: [], wokenAtMs: 0, answers: 0, costUsd: 0 };
    const wake = () => (worker.wokenAtMs = clock.time.nowMs);
    this.#workers.set(clock, worker);
    return Object.assign(store, {
      readChunk: async (leased: LeasedChunk) => {
        const chunk = await readChunk.call(store, leased);
        wake();
        const records = chunk.missing.map(({ idx }) => idx);
        const granted = { usd: 0, mostUsd: 0, beforeUsd: chunk.costUsd };
        const calls = { ended: 0, kept: [], asked: new Set<number>(), open: new Set<number>() };
        worker.read.unshift({ leased, records, ...granted, ...calls });
        return chunk;
      },
      reserve: async (leased: LeasedChunk, wantedUsd: number) => {
        const granted = await reserve.call(store, leased, wantedUsd);
        const usd = granted ?? 0;
        wake();
        const read = worker.read.find((each) => each.leased === leased);
        if (read !== undefined) Object.assign(read, { usd, mostUsd: Math.max(read.mostUsd, usd) });
        return granted;
      },
      writer: (options: Parameters<RunStore["writer"]>[0]) => {
        const kept = writer.call(store, options);
        const keep = kept.keep.bind(kept);
        return Object.assign(kept, {
          keep: async (...[end, lease]: Parameters<RunWriter["keep"]>) => {
            const isHeld = await keep(end, lease);
            wake();
            const { idx = 0 } = end;
            const mail = mailOf(idx);
            const read = readBy(worker, chunkOf(idx));
            if (read !== undefined) read.ended += 1;
            read?.open.delete(mail);
            if (!("costUsd" in end)) return isHeld;
            const usd = end.costUsd ?? 0;
            read?.kept.push({ mail, usd });
            worker.answers += 1;
            worker.costUsd += usd;
            return isHeld;
          },
        });
      },
    });
  }

  /** All that the service charged for fits into the maximum, lost answers and those of dead workers included. */
  ended(): void {
    const costs = [...this.#world.service.costs.values()];
    const ofWorkers = costs.filter(({ caller }) => caller.startsWith("worker"));
    const billedUsd = ofWorkers.reduce((sum, { usd }) => sum + usd, 0);
    const { maxUsd } = this.#run;
    const seen = () => `the service charged for ${billedUsd}, lost answers included > ${maxUsd}`;
    this.#world.checks.expect("budget", billedUsd <= maxUsd + 1e-12, seen);
  }

  sent({ clock }: Caller, body: string): void {
    const mail = mailIn(body);
    const [chunk = 0, ...others] = chunksOf(mail);
    const worker = this.#workers.get(clock);
    const read = worker && readBy(worker, chunk);
    // Records of two chunks have the same state.
    if (others.length > 0 || read === undefined || read.asked.has(mail)) return;
    read.asked.add(mail);
    read.open.add(mail);
    const { nowMs } = clock.time;
    const usd = estimateUsd(mail, mail + 1);
    // After a freeze, calls that waited for the pacer are sent at the same instant.
    const beginsNow = worker?.wokenAtMs === nowMs && !clock.isLateAt(nowMs - 1);
    if (beginsNow) this.#checkNow(worker, read, { mail, usd });
    else this.#checkBefore(read, { mail, usd });
  }

  /** A call that begins now is reserved beside all that is spent and in flight. */
  #checkNow({ answers, costUsd }: Worker, read: Reserved, { mail, usd }: Cost): void {
    const perCall = Math.max(usd, costUsd / Math.max(1, answers));
    const spentUsd = read.kept.reduce((sum, each) => sum + each.usd, read.beforeUsd);
    const inFlight = read.records.indexOf(mail) + 1 - read.ended;
    this.#check(spentUsd + inFlight * perCall, read.usd);
  }

  /** A call that began before was reserved beside what was spent then at least. */
  #checkBefore(read: Reserved, { mail, usd }: Cost): void {
    // Calls begin in the order of the records, and later ones may be sent before.
    const open = [...read.open].filter((other) => other <= mail);
    this.#check(this.#spentUsd(read, { mail, usd }) + open.length * usd, read.mostUsd);
  }

  #check(neededUsd: number, reservedUsd: number): void {
    const seen = () => `a call begins that needs ${neededUsd} dollars of ${reservedUsd} reserved`;
    this.#world.checks.expect("budget", neededUsd <= reservedUsd + 1e-12, seen);
  }

  /** Returns the cost of a chunk as it was when a call began: it may have waited since for the pacer. */
  #spentUsd({ beforeUsd, kept }: Reserved, call: Cost): number {
    const before = kept.filter(({ mail }) => mail < call.mail);
    const known = before.length - (this.#run.concurrency - 1);
    const costs = before.map(({ usd }, at) => (at < known ? usd : Math.min(usd, call.usd)));
    return costs.reduce((sum, usd) => sum + usd, beforeUsd);
  }
}

/** Returns a chunk as a worker has read it last. */
function readBy({ read }: Worker, chunk: number): Reserved | undefined {
  return read.find(({ leased }) => leased.chunk === chunk);
}
