const DECREASE = 0.7;
const DECREASE_AT_MOST_EVERY_MS = 1000;
const INCREASES_TO_TARGET = 3;
const SUCCESSES_TO_STEP = 50;
const SUCCESSES_TO_EXPLORE = 1000;
const CLOSE_ENOUGH = 0.93;
const JUST_BELOW = 0.99;
const FIRST_GROWTH = 0.15;
const EXPLORE_GROWTH = 0.01;

/**
 * Finds the rate of a service that does not say its limit: additive increase, multiplicative
 * decrease. A plain sawtooth uses 85 % of a limit, so the increase ends at a target, which halves
 * the gap between the fastest rate that held and the slowest that was throttled. Once they are
 * close, the rate holds, and explores again after a thousand successes.
 */
export class AdaptiveRate {
  #perMs = Number.POSITIVE_INFINITY;
  #target = Number.POSITIVE_INFINITY;
  #held = 0;
  #isHeldProven = false;
  #throttled = Number.POSITIVE_INFINITY;
  #growth = EXPLORE_GROWTH;
  #successesAtTarget = 0;
  #decreasedAtMs = Number.NEGATIVE_INFINITY;
  #stretch = { startedAtMs: 0, successes: 0 };

  /** The least time between two requests, in milliseconds; 0 while no limit is known. */
  get intervalMs(): number {
    return 1 / this.#perMs;
  }

  /** Whether the rate is back at its target after a throttled answer. */
  get isRecovered(): boolean {
    return this.#perMs >= this.#target;
  }

  /** A request succeeded. */
  succeeded(nowMs: number): void {
    if (this.#stretch.successes === 0) this.#stretch.startedAtMs = nowMs;
    this.#stretch.successes += 1;
    if (this.#perMs === Number.POSITIVE_INFINITY) return;
    if (!this.isRecovered) {
      const step = (this.#target * (1 - DECREASE)) / INCREASES_TO_TARGET;
      this.#perMs = Math.min(this.#target, this.#perMs + step);
      return;
    }
    this.#successesAtTarget += 1;
    const patience = this.#isSettled() ? SUCCESSES_TO_EXPLORE : SUCCESSES_TO_STEP;
    if (this.#successesAtTarget >= patience) this.#raise();
  }

  /** The service said that it is over its limit. */
  throttled(nowMs: number): void {
    if (nowMs - this.#decreasedAtMs < DECREASE_AT_MOST_EVERY_MS) return;
    this.#decreasedAtMs = nowMs;
    if (this.#perMs === Number.POSITIVE_INFINITY) return;
    this.#throttled = this.#perMs;
    if (this.#held > this.#throttled * JUST_BELOW) {
      this.#held = this.#throttled * (this.#isHeldProven ? JUST_BELOW : DECREASE);
      this.#isHeldProven = false;
    }
    this.#growth = EXPLORE_GROWTH;
    this.#perMs *= DECREASE;
    this.#aim();
  }

  /** The pause after a throttled answer is over: what went through since the last one is measured. */
  reopened(nowMs: number): void {
    const { startedAtMs, successes } = this.#stretch;
    const deliveredPerMs = successes / Math.max(1, nowMs - startedAtMs);
    this.#stretch = { startedAtMs: nowMs, successes: 0 };
    if (deliveredPerMs >= this.#perMs * DECREASE) return;
    this.#perMs = deliveredPerMs;
    this.#target = deliveredPerMs;
    this.#held = deliveredPerMs * DECREASE;
    this.#isHeldProven = false;
    this.#throttled = Number.POSITIVE_INFINITY;
    this.#growth = FIRST_GROWTH;
    this.#successesAtTarget = 0;
  }

  #isSettled(): boolean {
    return this.#held >= this.#throttled * CLOSE_ENOUGH;
  }

  #raise(): void {
    if (this.#isSettled()) this.#throttled = Number.POSITIVE_INFINITY;
    this.#held = this.#target;
    this.#isHeldProven = true;
    this.#aim();
  }

  #aim(): void {
    this.#successesAtTarget = 0;
    if (this.#throttled === Number.POSITIVE_INFINITY) {
      this.#target = this.#held * (1 + this.#growth);
      this.#growth *= 2;
    } else {
      this.#target = this.#isSettled() ? this.#held : (this.#held + this.#throttled) / 2;
    }
  }
}
