import { setImmediate as settle } from "node:timers/promises";
import type { Clock } from "../clock.ts";

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #nowMs = 0;
  /** The earliest first; of the same time, the one that was scheduled first. */
  readonly #timers: Timer[] = [];

  now(): number {
    return this.#nowMs;
  }

  epochNow(): number {
    return Date.UTC(2026, 10, 21) + this.#nowMs;
  }

  schedule(delayMs: number, callback: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, callback };
    this.#timers.splice(this.#endOf(timer.atMs), 0, timer);
    return () => this.#remove(timer);
  }

  /** How many timers are waiting. */
  get waiting(): number {
    return this.#timers.length;
  }

  /** Moves on by `ms`, running each timer at its time and letting promises settle in between. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    for (;;) {
      await settle();
      const [next] = this.#timers;
      if (next === undefined || next.atMs > endMs) break;
      this.#runNext();
    }
    this.#nowMs = endMs;
  }

  /** Lets promises settle, moves on to the next timer and runs it, and lets them settle again. */
  async next(): Promise<void> {
    // A call that has just begun has made the timer of its time limit and none of those before it.
    await settle();
    this.#runNext();
    await settle();
  }

  /** Moves on from timer to timer, letting promises settle in between, until `isOver`. */
  async runUntil(isOver: () => boolean): Promise<void> {
    const step = () => void (isOver() || this.#runNext());
    // Node settles promises after each immediate, and many in one turn of its loop cost a third less.
    while (!isOver()) {
      for (let i = 0; i < 100; i += 1) setImmediate(step);
      await settle();
    }
  }

  #runNext(): void {
    const next = this.#timers.shift();
    if (next === undefined) return;
    this.#nowMs = next.atMs;
    next.callback();
  }

  #remove(timer: Timer): void {
    const at = this.#timers.lastIndexOf(timer, this.#endOf(timer.atMs) - 1);
    if (at !== -1) this.#timers.splice(at, 1);
  }

  /** Where the timers up to that time end: halving, for every call of a batch has some. */
  #endOf(atMs: number): number {
    let [from, to] = [0, this.#timers.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#timers[middle] as Timer).atMs <= atMs) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

interface Timer {
  readonly atMs: number;
  readonly callback: () => void;
}
