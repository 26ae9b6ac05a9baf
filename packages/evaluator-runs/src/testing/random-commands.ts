import { sampleTicket, type Ticket } from "./tickets/ticket-source.ts";

/** A command of a world, and what the service does meanwhile. */
export interface PlayedCommand {
  readonly words: readonly string[];
  readonly team: string;
  /** The tickets of the input from now on. @default as before */
  readonly tickets?: readonly Ticket[];
  /** How the service answers about a subject. @default it answers */
  readonly troubles: ReadonlyMap<string, Trouble>;
  /** Ctrl-C comes with this call, if others are left: a database has a run whose last call has ended as complete. */
  readonly interruptedAt: number | null;
}

/** How the service fails: this time, each time, or with every call. */
export type Trouble = "failed" | "refused" | "wrong key";

const RUNS = 7;
const run = ["inbox.json", "--concurrency", "1"];
const reads = [
  [...run, "--dry-run"],
  ["export", "--format", "ndjson"],
  ["export", "--only", "new", "--format", "csv"],
  ["query", "select id, scam from tickets order by id", "--allow-superuser"],
  ["act", "--artifact", "calibration.json"],
];

/** Draws a world: runs over an input that changes, and commands that read after each of them. */
export function randomCommands(seed: number): PlayedCommand[] {
  const draw = new Draw(seed);
  // A capped run counts what a file spent on another input, and a database what it spent before it was complete.
  return draw.chance(0.2) ? cappedRuns(draw) : changingRuns(draw);
}

function cappedRuns(draw: Draw): PlayedCommand[] {
  const tickets = toTickets(["a", "b", "c", "d", "e"], new Map());
  const caps = Array.from({ length: RUNS }, () => draw.pick(["0.0015", "0.0035", "0.0045", "1"]));
  return caps.flatMap((cap) =>
    withReads(draw, {
      words: [...run, "--max-cost", cap, "--price", "0.001"],
      team: "us",
      tickets,
      troubles: new Map(),
      interruptedAt: null,
    }),
  );
}

function changingRuns(draw: Draw): PlayedCommand[] {
  let ids = ["a", "b", "c"];
  let addedCount = ids.length;
  let team = "us";
  const texts = new Map<string, string>();
  const refusedIds = new Set<string>();
  return Array.from({ length: RUNS }, (_, at) => {
    if (draw.chance(0.4)) ids = [...ids, String.fromCodePoint(97 + addedCount++)];
    if (draw.chance(0.1) && ids.length > 1) ids = ids.slice(1);
    if (draw.chance(0.1)) ids = ids.toReversed();
    if (draw.chance(0.15)) texts.set(draw.pick(ids), draw.pick(["same", `changed ${at}`]));
    if (draw.chance(0.1)) team = draw.pick(["us", "them"]);
    if (draw.chance(0.1)) refusedIds.add(draw.pick(ids));
    const tickets = toTickets(ids, texts);
    const subjectOf = (id: string) => tickets.find((ticket) => ticket.id === id)?.subject ?? "";
    const troubles = new Map<string, Trouble>();
    if (draw.chance(0.4)) troubles.set(subjectOf(draw.pick(ids)), "failed");
    if (draw.chance(0.1)) troubles.set(subjectOf(draw.pick(ids)), "wrong key");
    for (const id of refusedIds) troubles.set(subjectOf(id), "refused");
    const limit = draw.chance(0.25) ? ["--limit", String(draw.whole(1, ids.length))] : [];
    return withReads(draw, {
      words: [...run, ...limit],
      team,
      tickets,
      troubles,
      interruptedAt: limit.length === 0 && draw.chance(0.3) ? draw.whole(1, 3) : null,
    });
  }).flat();
}

function toTickets(ids: readonly string[], texts: ReadonlyMap<string, string>): Ticket[] {
  return ids.map((id) => sampleTicket({ id, subject: texts.get(id) ?? `about ${id}` }));
}

function withReads(draw: Draw, played: PlayedCommand): PlayedCommand[] {
  const { id } = draw.pick(played.tickets ?? []);
  const words = [...reads, ["explain", id]];
  const quiet = { team: played.team, troubles: new Map(), interruptedAt: null };
  return [played, ...words.map((one) => Object.assign({ words: one }, quiet))];
}

/** Draws from a seed. */
class Draw {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  // mulberry32
  #next(): number {
    this.#state = (this.#state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(share: number): boolean {
    return this.#next() < share;
  }

  whole(least: number, most: number): number {
    return least + Math.floor(this.#next() * (most - least + 1));
  }

  pick<TItem>(items: readonly TItem[]): TItem {
    return items[this.whole(0, items.length - 1)] as TItem;
  }
}
