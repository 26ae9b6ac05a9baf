import { hash } from "node:crypto";
import { seededRandom } from "evaluator-kit";

/** A generator of one concern. */
export class Random {
  /** Returns a number from 0 up to 1. */
  readonly next: () => number;

  /** Each concern of a seed has its own generator: another number of draws in one leaves the others. */
  constructor(seed: number, concern: string) {
    this.next = seededRandom(hash("sha256", `${seed} ${concern}`, "buffer").readUInt32LE());
  }

  /** Returns a number between both. */
  between(least: number, most: number): number {
    return least + (most - least) * this.next();
  }

  /** Returns a number between both, which are above 0; each order of magnitude is as likely. */
  magnitude(least: number, most: number): number {
    return least * (most / least) ** this.next();
  }

  /** Returns a whole number from `least` to `most`. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** Returns whether something of that probability happens. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Returns one of several. */
  pick<TItem>(items: readonly TItem[]): TItem {
    return items[Math.floor(this.next() * items.length)] as TItem;
  }
}
