// A running sum of log likelihood ratios (CUSUM) between 30 % and 6 % of throttled answers, which
// falls to 0 and no further. With 5 % of stray ones it reaches the alarm once in 6,000 answers.
const PER_THROTTLED = Math.log(0.3 / 0.06);
const PER_SUCCESS = Math.log((1 - 0.06) / (1 - 0.3));
const ALARM = 4.8;
const ALARM_IN_NOISE = 8;

/**
 * Tells a limit from stray throttled answers: a limit throttles several calls together, or the first
 * ones after a pause; a stray answer stands alone among successes.
 */
export class LimitDetector {
  // Before the first success, one throttled answer is enough.
  #evidence = ALARM - PER_THROTTLED;

  /** Takes in a success. */
  succeeded(): void {
    this.#evidence = Math.max(0, this.#evidence - PER_SUCCESS);
  }

  /** Takes in a throttled answer; returns whether it shows a limit. */
  throttled(isNoisy: boolean): boolean {
    this.#evidence += PER_THROTTLED;
    return this.#evidence >= (isNoisy ? ALARM_IN_NOISE : ALARM);
  }

  /** A pause is over: of the next few answers, one throttled is enough. */
  reopened(isNoisy: boolean): void {
    this.#evidence = isNoisy ? 0 : ALARM - PER_THROTTLED + PER_SUCCESS;
  }
}
