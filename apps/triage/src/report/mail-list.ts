import { deflateRawSync } from "node:zlib";
import {
  type MailRow,
  type PackedRow,
  type ShownQuestion,
  packRow,
  unpackRow,
} from "./mail-row.ts";
import type { MailRank, Sections } from "./sections.ts";

/** So many mails are packed together: a page of the list opens one or two packs. */
export const PACK_SIZE = 500;
const [OPENING, CLOSING] = [Buffer.from("["), Buffer.from("]")];

/** The mails of a page: packed as they come, and sorted once by section, urgency and day. */
export class MailList {
  readonly #questions: readonly ShownQuestion[];
  /** Each after a comma, and as bytes, which the collector of garbage does not go through. */
  readonly #packed: Buffer[] = [];
  readonly #ranks: MailRank[] = [];
  readonly #days: string[] = [];
  /** How many mails each section has. */
  readonly counts: number[];
  #order: readonly number[] | null = null;

  constructor({ all, questions }: Pick<Sections, "all" | "questions">) {
    this.#questions = questions;
    this.counts = all.map(() => 0);
  }

  get length(): number {
    return this.#packed.length;
  }

  /** Adds a mail. */
  add(row: MailRow, rank: MailRank): void {
    this.#packed.push(Buffer.from(`,${packRow(row)}`));
    this.#ranks.push(rank);
    this.#days.push(row.day);
    this.counts[rank.section] = (this.counts[rank.section] ?? 0) + 1;
  }

  /** Returns the first mails of a section. */
  first(section: number, limit: number): MailRow[] {
    const start = this.counts.slice(0, section).reduce((sum, count) => sum + count, 0);
    const end = start + Math.min(limit, this.counts[section] ?? 0);
    return this.#sorted()
      .slice(start, end)
      .map((at) => JSON.parse(String(this.#packed[at]).slice(1)) as PackedRow)
      .map((packed) => unpackRow(packed, this.#questions));
  }

  /** Returns all mails in packs: JSON arrays, deflated, as base64. */
  *packs(): Generator<string> {
    const order = this.#sorted();
    for (let start = 0; start < order.length; start += PACK_SIZE) {
      const rows = order.slice(start, start + PACK_SIZE).flatMap((at) => this.#packed[at] ?? []);
      const pack = Buffer.concat([...rows, CLOSING]);
      pack.set(OPENING);
      // Level 1 takes a third of the time of level 6 for a page that is a third larger.
      yield deflateRawSync(pack, { level: 1 }).toString("base64");
    }
  }

  #sorted(): readonly number[] {
    this.#order ??= [...this.#packed.keys()].toSorted((one, other) => this.#compare(one, other));
    return this.#order;
  }

  #compare(one: number, other: number): number {
    const [a, b] = [this.#ranks[one], this.#ranks[other]];
    if (a === undefined || b === undefined) return 0;
    if (a.section !== b.section) return a.section - b.section;
    if (a.weight !== b.weight) return b.weight - a.weight;
    const [day, otherDay] = [this.#days[one] ?? "", this.#days[other] ?? ""];
    return day === otherDay ? one - other : day < otherDay ? 1 : -1;
  }
}
