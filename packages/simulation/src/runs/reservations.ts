import type { LeasedChunk } from "evaluator-runs/postgres";
import type { RunStore, RunWriter } from "evaluator-runs/store-parts";
import { estimateUsd } from "../service/answer.ts";
import type { Caller, RequestFollower } from "../service/model-service.ts";
import type { ProcessClock } from "../time/process-clock.ts";
import type { World } from "../world.ts";
import { chunkOf, chunksOf, mailIn, mailOf } from "./mail-source.ts";

// The run estimates a request without the form of its body, some characters shorter.
const ESTIMATED_ALIKE = 0.95;

/** A chunk that a worker has read, and its cost in US dollars. */
interface Reserved {
  readonly leased: LeasedChunk;
  /** The most that was granted. */
  mostUsd: number;
  /** The cost of the chunk when it was read. */
  readonly beforeUsd: number;
  /** The answers that were kept since. */
  readonly kept: { readonly mail: number; readonly usd: number }[];
  /** The mails that were asked about, and those whose answers are not kept. */
  readonly asked: Set<number>;
  readonly open: Set<number>;
}

/** Follows the cost that workers reserve for their chunks: no call begins that is not reserved. */
export class Reservations implements RequestFollower {
  readonly #world: World;
  readonly #concurrency: number;
  /** The chunks that each worker has read, the last one first. */
  readonly #read = new Map<ProcessClock, Reserved[]>();

  constructor(world: World, concurrency: number) {
    this.#world = world;
    this.#concurrency = concurrency;
  }

  /** Returns the store as a worker uses it. */
  watch<TStore extends RunStore>(store: TStore, clock: ProcessClock): TStore {
    const { readChunk, reserve, writer } = store;
    return Object.assign(store, {
      readChunk: async (leased: LeasedChunk) => {
        const chunk = await readChunk.call(store, leased);
        const calls = { kept: [], asked: new Set<number>(), open: new Set<number>() };
        const read = { leased, mostUsd: 0, beforeUsd: chunk.costUsd, ...calls };
        this.#read.set(clock, [read, ...(this.#read.get(clock) ?? [])]);
        return chunk;
      },
      reserve: async (leased: LeasedChunk, wantedUsd: number) => {
        const usd = await reserve.call(store, leased, wantedUsd);
        const read = this.#read.get(clock)?.find((each) => each.leased === leased);
        if (read !== undefined) read.mostUsd = Math.max(read.mostUsd, usd);
        return usd;
      },
      writer: (options: Parameters<RunStore["writer"]>[0]) => {
        const kept = writer.call(store, options);
        const keep = kept.keep.bind(kept);
        return Object.assign(kept, {
          keep: async (end: Parameters<RunWriter["keep"]>[0]) => {
            await keep(end);
            const { idx = 0 } = end;
            const mail = mailOf(idx);
            const read = this.#readBy(clock, chunkOf(idx));
            read?.open.delete(mail);
            if ("costUsd" in end) read?.kept.push({ mail, usd: end.costUsd });
          },
        });
      },
    });
  }

  sent({ clock }: Caller, body: string): void {
    const mail = mailIn(body);
    const [chunk = 0, ...others] = chunksOf(mail);
    const read = this.#readBy(clock, chunk);
    // Records of two chunks have the same state.
    if (others.length > 0 || read === undefined || read.asked.has(mail)) return;
    read.asked.add(mail);
    read.open.add(mail);
    const usd = ESTIMATED_ALIKE * estimateUsd(body);
    // Calls begin in the order of the records, and later ones may be sent before.
    const open = [...read.open].filter((other) => other <= mail);
    const neededUsd = this.#spentUsd(read, { mail, usd }) + open.length * usd;
    const seen = () => `a call begins that needs ${neededUsd} dollars of ${read.mostUsd} reserved`;
    this.#world.checks.expect("budget", neededUsd <= read.mostUsd + 1e-12, seen);
  }

  /** Returns the cost of a chunk as it was when a call began: it may have waited since for the pacer. */
  #spentUsd({ beforeUsd, kept }: Reserved, call: Reserved["kept"][number]): number {
    const before = kept.filter(({ mail }) => mail < call.mail);
    const known = before.length - (this.#concurrency - 1);
    const costs = before.map(({ usd }, at) => (at < known ? usd : Math.min(usd, call.usd)));
    return costs.reduce((sum, usd) => sum + usd, beforeUsd);
  }

  /** Returns a chunk as a worker has read it last. */
  #readBy(clock: ProcessClock, chunk: number): Reserved | undefined {
    return this.#read.get(clock)?.find(({ leased }) => leased.chunk === chunk);
  }
}
