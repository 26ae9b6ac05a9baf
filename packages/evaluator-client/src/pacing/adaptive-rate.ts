const DECREASE = 0.7;
const DECREASE_AT_MOST_EVERY_MS = 1000;
const INCREASES_TO_TARGET = 10;
const STEP_SUCCESSES = 30;
const HOLD_SUCCESSES = 1000;
const CLOSE_ENOUGH = 0.965;
const BELOW_THROTTLED = 0.97;
const EXPLORE_GROWTH = 0.02;

/**
 * Finds the rate of a service that does not say its limit: additive increase, multiplicative
 * decrease. Plain sawtooth uses 85 % of a limit, so the increase does not aim past it each time:
 * it climbs to a target, which searches between the fastest rate that held and the slowest that
 * was throttled, then holds, and explores again after a thousand successes.
 */
export class AdaptiveRate {
  /** Requests per millisecond; infinite until the first throttled answer. */
  #perMs = Number.POSITIVE_INFINITY;
  #target = Number.POSITIVE_INFINITY;
  #held = 0;
  #isHeldSure = false;
  #throttled = Number.POSITIVE_INFINITY;
  #growth = EXPLORE_GROWTH;
  #successesAtTarget = 0;
  #decreasedAtMs = Number.NEGATIVE_INFINITY;
  #stretch = { startedAtMs: Number.NaN, successes: 0 };

  /** The least time between two requests, in milliseconds; 0 while no limit is known. */
  get intervalMs(): number {
    return 1 / this.#perMs;
  }

  /** A request succeeded. */
  succeeded(nowMs: number): void {
    this.#count(nowMs);
    if (this.#perMs === Number.POSITIVE_INFINITY) return;
    if (this.#perMs < this.#target) {
      const step = (this.#target * (1 - DECREASE)) / INCREASES_TO_TARGET;
      this.#perMs = Math.min(this.#target, this.#perMs + step);
      return;
    }
    this.#successesAtTarget += 1;
    if (this.#successesAtTarget >= (this.#isSettled() ? HOLD_SUCCESSES : STEP_SUCCESSES))
      this.#raise();
  }

  /** The service said that it is over its limit. */
  throttled(nowMs: number): void {
    if (nowMs - this.#decreasedAtMs < DECREASE_AT_MOST_EVERY_MS) return;
    this.#decreasedAtMs = nowMs;
    if (this.#perMs === Number.POSITIVE_INFINITY) return;
    this.#throttled = this.#perMs;
    if (this.#held > this.#throttled * BELOW_THROTTLED) {
      this.#held = this.#throttled * (this.#isHeldSure ? BELOW_THROTTLED : DECREASE);
      this.#isHeldSure = false;
    }
    this.#growth = EXPLORE_GROWTH;
    this.#perMs *= DECREASE;
    this.#aim();
  }

  /** The pause after a throttled answer is over: what went through since the last one is the rate. */
  reopened(nowMs: number): void {
    const { startedAtMs, successes } = this.#stretch;
    const deliveredPerMs = successes / Math.max(1, nowMs - startedAtMs);
    this.#stretch = { startedAtMs: nowMs, successes: 0 };
    if (deliveredPerMs >= Math.min(this.#perMs, this.#throttled) * DECREASE) return;
    this.#perMs = deliveredPerMs;
    this.#target = deliveredPerMs;
    this.#held = deliveredPerMs * DECREASE;
    this.#isHeldSure = false;
    this.#successesAtTarget = 0;
  }

  #isSettled(): boolean {
    return this.#held >= this.#throttled * CLOSE_ENOUGH;
  }

  #raise(): void {
    if (this.#isSettled()) this.#throttled = Number.POSITIVE_INFINITY;
    this.#held = this.#target;
    this.#isHeldSure = true;
    this.#aim();
  }

  #aim(): void {
    this.#successesAtTarget = 0;
    if (this.#throttled === Number.POSITIVE_INFINITY) {
      this.#target = this.#held * (1 + this.#growth);
      this.#growth *= 2;
    } else this.#target = this.#isSettled() ? this.#held : (this.#held + this.#throttled) / 2;
  }

  #count(nowMs: number): void {
    if (this.#stretch.successes === 0) this.#stretch.startedAtMs = nowMs;
    this.#stretch.successes += 1;
  }
}
