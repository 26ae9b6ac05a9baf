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

const LONG_PAUSE_MS = 10_000;
const LIKE = 0.8;

/** Tells a long window that starts anew: as much goes through before each of its long pauses. */
export class LongWindow {
  #beforePausePerMs = 0;
  #startedAtMs = 0;
  #lengthMs = 0;

  /** How long it is, in milliseconds; 0 while none is known. */
  get lengthMs(): number {
    return this.#lengthMs;
  }

  /** A pause is over, and so much went through since the one before. */
  reopened(nowMs: number, span: { pausedAtMs: number; deliveredPerMs: number }): void {
    const { pausedAtMs, deliveredPerMs } = span;
    const isLong = nowMs - pausedAtMs >= LONG_PAUSE_MS;
    const likeness = deliveredPerMs / this.#beforePausePerMs;
    const isWindow = isLong && likeness > LIKE && likeness < 1 / LIKE;
    this.#lengthMs = isWindow ? nowMs - this.#startedAtMs : 0;
    this.#beforePausePerMs = isLong ? deliveredPerMs : 0;
    this.#startedAtMs = nowMs;
  }
}
