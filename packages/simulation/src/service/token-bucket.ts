/** The limit of a service: so many requests a second, and so many at once after idling. */
export interface ServiceLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** Counts requests against a limit. */
export class TokenBucket {
  #limit: ServiceLimit;
  #level: number;
  #countedAtMs = 0;

  constructor(limit: ServiceLimit) {
    this.#limit = limit;
    this.#level = limit.burst;
  }

  /** From now on, so many requests a second are allowed; the burst changes alike. */
  changeTo(perSecond: number, nowMs: number): void {
    this.#count(nowMs);
    const { perSecond: before, burst } = this.#limit;
    this.#limit = { perSecond, burst: Math.max(1, (burst * perSecond) / before) };
  }

  #count(nowMs: number): void {
    const { perSecond, burst } = this.#limit;
    const gained = ((nowMs - this.#countedAtMs) * perSecond) / 1000;
    this.#level = Math.min(burst, this.#level + gained);
    this.#countedAtMs = nowMs;
  }

  /** Takes one request; returns 0, or how long until there is one in milliseconds. */
  take(nowMs: number): number {
    this.#count(nowMs);
    const { perSecond } = this.#limit;
    if (this.#level < 1) return ((1 - this.#level) / perSecond) * 1000;
    this.#level -= 1;
    return 0;
  }
}
