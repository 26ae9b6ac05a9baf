// Each figure here is chosen, and was halved and doubled in simulation.test.ts; what that changed
// there stands beside it.

// Half: a window of ten a minute is used to 88 % instead of 95 %. Twice: no change.
const LONG_PAUSE_MS = 10_000;
// With 0.4 and with 0.9: no change.
const LIKE = 0.8;

/** Recognizes a long window that starts anew: as much goes through before each of its long pauses. */
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

// Half: of a limit that rises to 60 a second 76 % are used instead of 96 %. Twice: 2.8 % are
// throttled once it falls, instead of 1.5 %.
const STRAYS_TO_DOUBT = 2.5;
// More than one stray in 70 successes is too many for a limit that is searched for. Half: 84 % used
// once it rises. Twice: 2.8 % throttled once it falls.
const FORGIVEN_PER_SUCCESS = 1 / 70;
// Half: 2.3 % throttled once a limit falls, instead of 1.3 %. Twice: no worse.
const SUCCESSES_TO_STAND_ALONE = 6;
// Half and twice: no change; long enough that noise is not doubted anew all the time.
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

// Half: a batch with 5 % of strays falls to 62 % of a plain loop's speed, instead of 86 % at the
// least. Twice: buckets of ten a minute are used to 94 and 95 %, instead of 97 and 96 %.
const SUCCESSES_TO_END_COMPARISON = 120;
// Half: a limit that falls is taken for noise, 2.5 % are throttled instead of 1.3 %, and two calls of
// another fail. Twice: a batch with strays falls to 58 % of a plain loop's speed.
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
