import { LongWindow, RateComparison, StrayNoise } from "./rate-evidence.ts";

// These figures come from the simulations beside this file: buckets, fixed and sliding windows of a
// second and of a minute, 10 a minute to 200 a second, with and without Retry-After, and noise.
const DECREASE = 0.7;
const BETWEEN_DECREASES = { ms: 1000, successes: 5 };
const INCREASES_TO_TARGET = 3;
const SHARE_OF_GAP = 0.3;
const CLOSE_ENOUGH = 0.95;
const JUST_BELOW = 0.99;
const FIRST_GROWTH = 0.15;
const EXPLORE_GROWTH = 0.01;
const MOST_GROWTH = 0.5;
const NEAR = 1.3;
// A rate that was measured from few successes says little, so it doubles soon.
const FEW = { successes: 20, growth: 1, successesToStep: 8 };
const STEP = { afterMs: 1000, successes: 50 };
const EXPLORE = { afterMs: 15_000, successes: 300 };
const EXPLORE_SLOWLY = { afterMs: 200_000, successes: 500 };
// A bucket with a second's worth lets through that much more than its rate before it throttles.
const BURST_MS = 1000;

/** What got through since the last pause, as the one who sends remembers it. */
export interface Throughput {
  /** How many requests succeeded since the last reset. */
  readonly count: number;
  /** Forgets all. */
  reset(): void;
  /**
   * Returns the highest rate, per millisecond, over the spans from `fromMs` or before until now, each
   * taken as longer by `extraMs`.
   */
  perMs(nowMs: number, span: { fromMs: number; extraMs?: number }): number;
}

/**
 * Finds the rate of a service that does not say its limit: additive increase, multiplicative
 * decrease. A plain sawtooth uses 85 % of a limit, so the increase ends at a target, which closes in
 * from the fastest rate that held to the slowest that was throttled. Once they are close, the rate
 * holds, and explores again later.
 *
 * Throttled answers that stand alone may be a limit that is hardly passed, or noise. A lower rate
 * tells: where it does not end them, they are noise, and for a while not listened to.
 *
 * Times leave out those in which nobody wanted to send.
 */
export class AdaptiveRate {
  #perMs = Number.POSITIVE_INFINITY;
  #target = Number.POSITIVE_INFINITY;
  #held = 0;
  #isHeldProven = false;
  #throttled = Number.POSITIVE_INFINITY;
  #growth = EXPLORE_GROWTH;
  #successesToStep = STEP.successes;
  #atTarget = { successes: 0, sinceMs: 0 };
  #decreasedAtMs = Number.NEGATIVE_INFINITY;
  #successesSinceDecrease = BETWEEN_DECREASES.successes;
  #overshotAtMs = Number.NEGATIVE_INFINITY;
  #pausedAtMs = Number.NEGATIVE_INFINITY;
  #comparison: RateComparison | null = null;
  readonly #noise = new StrayNoise();
  readonly #throughput: Throughput;
  readonly #window = new LongWindow();

  /** @param throughput - All successes, also those before the first throttled answer. */
  constructor(throughput: Throughput) {
    this.#throughput = throughput;
  }

  /** The least time between two requests, in milliseconds; 0 while no limit is known. */
  get intervalMs(): number {
    return 1 / this.#perMs;
  }

  /** Whether the rate is back at its target after a throttled answer. */
  get isRecovered(): boolean {
    return this.#perMs >= this.#target;
  }

  /** Whether throttled answers that stand alone are known to be noise. */
  get isNoisy(): boolean {
    return this.#noise.isKnown;
  }

  /** Whether the rate is being tried, so that even one throttled answer is most likely its limit. */
  get isTrying(): boolean {
    if (this.isNoisy || this.#comparison !== null || !Number.isFinite(this.#perMs)) return false;
    return this.#target > this.#held;
  }

  /**
   * Takes in a throttled answer; returns whether it only shows that the rate that is tried is a
   * little above the limit. It falls then, and what was sent before is no news.
   */
  overshot(passedAtMs: number, nowMs: number): boolean {
    if (passedAtMs <= this.#overshotAtMs) return true;
    const isNear = this.isTrying && this.#target <= this.#held * NEAR;
    if (!isNear || !this.#mayDecrease(nowMs)) return false;
    this.#overshotAtMs = nowMs;
    this.#countStray(nowMs);
    return true;
  }

  /** A request succeeded; nobody needs to say so before the first throttled answer. */
  succeeded(passedAtMs: number, nowMs: number): void {
    this.#noise.succeeded(nowMs);
    this.#successesSinceDecrease += 1;
    if (this.#comparison !== null) return this.#compareSuccess(this.#comparison, passedAtMs);
    if (this.#perMs === Number.POSITIVE_INFINITY) return;
    if (this.isRecovered) return this.#countAtTarget(nowMs);
    const step = (this.#target * (1 - DECREASE)) / INCREASES_TO_TARGET;
    this.#perMs = Math.min(this.#target, this.#perMs + step);
  }

  /** A throttled answer does not show a limit by itself. */
  strayed(passedAtMs: number, nowMs: number): void {
    if (this.isNoisy || !this.#noise.standsAlone()) return;
    if (this.#comparison?.concerns(passedAtMs) === false) return;
    this.#countStray(nowMs);
  }

  /** The service is over its limit, and a pause begins. */
  throttled(nowMs: number): void {
    this.#pausedAtMs = nowMs;
    this.#noise.forget();
    if (this.#comparison !== null) this.#takeForLimit(this.#comparison);
    if (this.#perMs === Number.POSITIVE_INFINITY) this.#decreasedAtMs = nowMs;
    else this.#countStray(nowMs);
  }

  /** The pause is over: what went through since the one before is measured, the pause included. */
  reopened(nowMs: number): void {
    if (this.#comparison !== null) return;
    const { count } = this.#throughput;
    const deliveredPerMs = this.#throughput.perMs(nowMs, { fromMs: this.#pausedAtMs });
    this.#throughput.reset();
    this.#window.reopened(nowMs, { pausedAtMs: this.#pausedAtMs, deliveredPerMs });
    if (deliveredPerMs >= this.#perMs * DECREASE) return;
    const isFew = count < FEW.successes;
    if (this.#window.lengthMs > 0) return this.#startFrom(deliveredPerMs, isFew);
    const isFirst = this.#perMs === Number.POSITIVE_INFINITY;
    if (!isFirst && !isFew && deliveredPerMs > this.#held / 2) return;
    const lowest = isFirst ? 0 : this.#perMs / (isFew ? 4 : 2);
    this.#startFrom(Math.max(deliveredPerMs, lowest), isFew);
  }

  #startFrom(perMs: number, isFew: boolean): void {
    this.#perMs = perMs;
    this.#target = perMs;
    this.#held = perMs * DECREASE;
    this.#isHeldProven = false;
    this.#throttled = Number.POSITIVE_INFINITY;
    this.#growth = isFew ? FEW.growth : FIRST_GROWTH;
    this.#successesToStep = isFew ? FEW.successesToStep : STEP.successes;
    this.#atTarget.successes = 0;
  }

  /** Raises a rate that has held for a while, unless so few were sent that this says nothing. */
  #countAtTarget(nowMs: number): void {
    const { successes, sinceMs } = this.#atTarget;
    this.#atTarget.successes += 1;
    if (successes === 0) this.#atTarget.sinceMs = nowMs;
    const lastedMs = nowMs - sinceMs;
    if (!this.#hasLasted(successes + 1, lastedMs)) return;
    if (successes >= lastedMs * this.#perMs * DECREASE) this.#raise();
    else this.#atTarget.successes = 0;
  }

  #hasLasted(successes: number, lastedMs: number): boolean {
    if (!this.#isSettled()) {
      const stepMs = Math.max(STEP.afterMs, this.#window.lengthMs);
      return successes >= this.#successesToStep && lastedMs >= stepMs;
    }
    const { afterMs, successes: enough } =
      lastedMs < EXPLORE_SLOWLY.afterMs ? EXPLORE : EXPLORE_SLOWLY;
    return successes >= enough && lastedMs >= afterMs;
  }

  #countStray(nowMs: number): void {
    if (this.#comparison !== null) {
      if (this.#comparison.strayed()) this.#takeForNoise(nowMs);
    } else if (this.#noise.isDoubtful()) {
      this.#compare(nowMs);
    } else {
      this.#decrease(nowMs);
    }
  }

  /** Goes on more slowly, to see whether the strays end. */
  #compare(nowMs: number): void {
    const perMs = Number.isFinite(this.#target)
      ? this.#target
      : this.#throughput.perMs(nowMs, { fromMs: nowMs - BURST_MS / 2 });
    this.#comparison = new RateComparison(perMs, nowMs);
    this.#perMs = perMs * DECREASE;
    this.#held = this.#perMs;
    this.#target = this.#perMs;
  }

  #compareSuccess(comparison: RateComparison, passedAtMs: number): void {
    if (comparison.concerns(passedAtMs) && comparison.succeeded()) this.#takeForLimit(comparison);
  }

  /** At the lower rate the strays ended. */
  #takeForLimit({ perMs }: RateComparison): void {
    this.#comparison = null;
    this.#throttled = perMs;
    this.#isHeldProven = true;
    this.#aim();
  }

  /** At the lower rate the strays go on. */
  #takeForNoise(nowMs: number): void {
    this.#comparison = null;
    this.#noise.confirm(nowMs);
    this.#perMs = Number.POSITIVE_INFINITY;
    this.#target = Number.POSITIVE_INFINITY;
    this.#throttled = Number.POSITIVE_INFINITY;
  }

  #decrease(nowMs: number): void {
    if (!Number.isFinite(this.#perMs)) return;
    if (!this.#mayDecrease(nowMs)) return;
    this.#decreasedAtMs = nowMs;
    this.#successesSinceDecrease = 0;
    this.#throttled = this.#perMs;
    const span = { fromMs: nowMs - 2 * BURST_MS, extraMs: BURST_MS };
    const atLeast = this.#throughput.perMs(nowMs, span);
    this.#held = Math.max(Math.min(this.#held, this.#throttled * DECREASE), atLeast);
    if (this.#held > this.#throttled * JUST_BELOW) {
      this.#held = this.#throttled * (this.#isHeldProven ? JUST_BELOW : DECREASE);
      this.#isHeldProven = false;
    }
    this.#growth = EXPLORE_GROWTH;
    this.#successesToStep = STEP.successes;
    this.#perMs *= DECREASE;
    this.#aim();
  }

  #mayDecrease(nowMs: number): boolean {
    const isLongAgo = nowMs - this.#decreasedAtMs >= BETWEEN_DECREASES.ms;
    return isLongAgo && this.#successesSinceDecrease >= BETWEEN_DECREASES.successes;
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
    this.#atTarget.successes = 0;
    if (this.#throttled === Number.POSITIVE_INFINITY) {
      this.#target = this.#held * (1 + this.#growth);
      this.#growth = Math.max(Math.min(this.#growth * 2, MOST_GROWTH), this.#growth);
    } else {
      const gap = this.#throttled - this.#held;
      this.#target = this.#isSettled() ? this.#held : this.#held + gap * SHARE_OF_GAP;
    }
  }
}
