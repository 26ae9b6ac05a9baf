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
