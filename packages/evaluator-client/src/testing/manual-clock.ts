import { setImmediate } from "node:timers/promises";
import type { Clock } from "../retry/clock.ts";

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #nowMs = 0;
  readonly #timers = new Set<{ atMs: number; callback: () => void }>();

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
      const next = [...this.#timers].toSorted((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined || next.atMs > endMs) break;
      this.#timers.delete(next);
      this.#nowMs = next.atMs;
      next.callback();
    }
    this.#nowMs = endMs;
  }
}
