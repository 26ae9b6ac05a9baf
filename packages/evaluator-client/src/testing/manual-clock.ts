import { setImmediate } from "node:timers/promises";
import type { Clock } from "../clock.ts";

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #nowMs = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#nowMs;
  }

  epochNow(): number {
    return Date.UTC(2026, 10, 21) + this.#nowMs;
  }

  schedule(delayMs: number, callback: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** How many timers are waiting. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Moves on by `ms`, running each timer at its time and letting promises settle in between. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    for (;;) {
      await setImmediate();
      const next = this.#earliest();
      if (next === undefined || next.atMs > endMs) break;
      this.#run(next);
    }
    this.#nowMs = endMs;
  }

  /** Moves on to the next timer, runs it and lets promises settle. */
  async next(): Promise<void> {
    const next = this.#earliest();
    if (next !== undefined) this.#run(next);
    await setImmediate();
  }

  #earliest(): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) {
      if (earliest === undefined || timer.atMs < earliest.atMs) earliest = timer;
    }
    return earliest;
  }

  #run(timer: Timer): void {
    this.#timers.delete(timer);
    this.#nowMs = timer.atMs;
    timer.callback();
  }
}

interface Timer {
  readonly atMs: number;
  readonly callback: () => void;
}
