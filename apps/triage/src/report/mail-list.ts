import { deflateRawSync } from "node:zlib";
import { type MailRow, packRow, unpackRow } from "./mail-row.ts";
import type { MailPlace } from "./sections.ts";

/** So many mails are packed together: a page of the list opens one or two packs. */
export const PACK_SIZE = 500;

/** The mails of a page: packed as they come, and sorted once by section, urgency and day. */
export class MailList {
  readonly #packed: string[] = [];
  readonly #places: MailPlace[] = [];
  readonly #days: string[] = [];
  /** How many mails each section has. */
  readonly counts: number[];
  #order: readonly number[] | null = null;

  constructor(sections: number) {
    this.counts = Array.from({ length: sections }, () => 0);
  }

  get length(): number {
    return this.#packed.length;
  }

  /** Adds a mail. */
  add(row: MailRow, place: MailPlace): void {
    this.#packed.push(packRow(row));
    this.#places.push(place);
    this.#days.push(row.day);
    this.counts[place.section] = (this.counts[place.section] ?? 0) + 1;
  }

  /** Returns the first mails of a section. */
  first(section: number, limit: number): MailRow[] {
    const start = this.counts.slice(0, section).reduce((sum, count) => sum + count, 0);
    const end = start + Math.min(limit, this.counts[section] ?? 0);
    return this.#sorted()
      .slice(start, end)
      .map((at) => unpackRow(JSON.parse(this.#packed[at] ?? "")));
  }

  /** Returns all mails in packs: JSON arrays, deflated, as base64. */
  *packs(): Generator<string> {
    const order = this.#sorted();
    for (let start = 0; start < order.length; start += PACK_SIZE) {
      const rows = order.slice(start, start + PACK_SIZE).map((at) => this.#packed[at]);
      // Level 1 takes a third of the time of level 6 for a page that is a third larger.
      yield deflateRawSync(`[${rows.join(",")}]`, { level: 1 }).toString("base64");
    }
  }

  #sorted(): readonly number[] {
    this.#order ??= [...this.#packed.keys()].sort((one, other) => this.#compare(one, other));
    return this.#order;
  }

  #compare(one: number, other: number): number {
    const [a, b] = [this.#places[one], this.#places[other]];
    if (a === undefined || b === undefined) return 0;
    if (a.section !== b.section) return a.section - b.section;
    if (a.weight !== b.weight) return b.weight - a.weight;
    const [day, otherDay] = [this.#days[one] ?? "", this.#days[other] ?? ""];
    return day === otherDay ? one - other : day < otherDay ? 1 : -1;
  }
}
