const REMEMBERED = 4096;

/** Remembers when requests succeeded, to tell how many a limit let through. */
export class Throughput {
  readonly #atMs = new Float64Array(REMEMBERED);
  #count = 0;

  /** How many successes there were since the last reset. */
  get count(): number {
    return this.#count;
  }

  /** A request succeeded. */
  add(nowMs: number): void {
    this.#atMs[this.#count % REMEMBERED] = nowMs;
    this.#count += 1;
  }

  /** Forgets all. */
  reset(): void {
    this.#count = 0;
  }

  /**
   * Returns the highest rate, per millisecond, over the spans from `fromMs` or before until now, each
   * taken as longer by `extraMs`.
   */
  perMs(nowMs: number, { fromMs, extraMs = 0 }: { fromMs: number; extraMs?: number }): number {
    let best = 0;
    const oldest = Math.max(0, this.#count - REMEMBERED);
    for (let index = oldest; index < this.#count; index += 1) {
      const startedAtMs = this.#atMs[index % REMEMBERED] as number;
      if (startedAtMs > fromMs && index > oldest) break;
      best = Math.max(best, (this.#count - index) / Math.max(1, nowMs - startedAtMs + extraMs));
    }
    return best;
  }
}
