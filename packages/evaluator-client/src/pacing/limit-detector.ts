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

const STRAYS_TO_DOUBT = 2.5;
// More than one stray in 70 successes is too many for a limit that is searched for.
const FORGIVEN_PER_SUCCESS = 1 / 70;
const SUCCESSES_TO_STAND_ALONE = 6;
const KNOWN_FOR_SUCCESSES = 2000;
const KNOWN_FOR_MS = 60_000;

/** What is known of throttled answers that stand alone: whether they come too often, or are noise. */
export class StrayNoise {
  #doubt = 0;
  #successesSince = SUCCESSES_TO_STAND_ALONE;
  #successesKnown = 0;
  #knownUntilMs = 0;

  /** Whether strays are known to have nothing to do with the rate; for a minute at least. */
  get isKnown(): boolean {
    return this.#successesKnown > 0;
  }

  /** A request succeeded. */
  succeeded(nowMs: number): void {
    this.#successesSince += 1;
    this.#doubt = Math.max(0, this.#doubt - FORGIVEN_PER_SUCCESS);
    if (this.#successesKnown > 1 || nowMs >= this.#knownUntilMs) {
      this.#successesKnown = Math.max(0, this.#successesKnown - 1);
    }
  }

  /** Takes in a throttled answer; returns whether it stands alone, a few successes after the last. */
  standsAlone(): boolean {
    if (this.#successesSince < SUCCESSES_TO_STAND_ALONE) return false;
    this.#successesSince = 0;
    return true;
  }

  /** Takes in one that stands alone; returns whether they come too often to be left at that. */
  isDoubtful(): boolean {
    this.#doubt += 1;
    if (this.#doubt < STRAYS_TO_DOUBT) return false;
    this.#doubt = 0;
    return true;
  }

  /** They go on at a rate that holds. */
  confirm(nowMs: number): void {
    this.#successesKnown = KNOWN_FOR_SUCCESSES;
    this.#knownUntilMs = nowMs + KNOWN_FOR_MS;
  }

  /** A limit showed. */
  forget(): void {
    this.#successesKnown = 0;
  }
}

const SUCCESSES_TO_END_COMPARISON = 120;
const STRAYS_TO_END_COMPARISON = 2;

/** A settled or unlimited rate, while a lower one is tried to see whether the strays end. */
export class RateComparison {
  readonly #sinceMs: number;
  #successes = 0;
  #strays = 0;
  /** The rate before, in requests per millisecond. */
  readonly perMs: number;

  constructor(perMs: number, sinceMs: number) {
    this.perMs = perMs;
    this.#sinceMs = sinceMs;
  }

  /** Whether a request was sent at the lower rate. */
  concerns(passedAtMs: number): boolean {
    return passedAtMs >= this.#sinceMs;
  }

  /** A request at the lower rate succeeded; returns whether the strays are over, so that they were a limit. */
  succeeded(): boolean {
    this.#successes += 1;
    return this.#successes >= SUCCESSES_TO_END_COMPARISON;
  }

  /** A throttled answer stands alone; returns whether they go on, so that they are noise. */
  strayed(): boolean {
    this.#strays += 1;
    return this.#strays >= STRAYS_TO_END_COMPARISON;
  }
}
