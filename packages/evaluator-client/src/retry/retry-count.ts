import type { Failure } from "./attempt.ts";

/** How many retries a call has. */
export interface RetryLimits {
  /** Retries after the first attempt. */
  readonly maxRetries: number;
  /** Refusals (429, 503) that do not count as retries while the service answers other calls. @default 0 */
  readonly freeRetries?: number;
  /** The number of answers to the calls of a batch; each call adds its own. */
  readonly answered?: { count: number };
}

/** Counts the retries of a call. */
export class RetryCount {
  readonly #limits: RetryLimits;
  /** Retries used so far, without the free ones. */
  used = 0;
  #free: number;
  /** The refusals among the used ones since another call was answered. */
  #refusals = 0;
  #answeredBefore: number;

  /** @param answeredBefore - `limits.answered.count` when the call began. */
  constructor(limits: RetryLimits, answeredBefore: number) {
    this.#limits = limits;
    this.#free = limits.maxRetries > 0 ? (limits.freeRetries ?? 0) : 0;
    this.#answeredBefore = answeredBefore;
  }

  /** Counts a failed attempt; returns whether the call may be tried again. */
  allows(failure: Failure): boolean {
    const isRefusal = failure === "limit" || failure === "stray";
    const answered = this.#limits.answered?.count ?? 0;
    const isAnswered = answered > this.#answeredBefore;
    this.#answeredBefore = answered;
    if (isRefusal && isAnswered) this.#forgiveRefusals();
    if (this.#free > 0 && (failure === "stray" || (isRefusal && isAnswered))) this.#free -= 1;
    else {
      this.used += 1;
      if (isRefusal) this.#refusals += 1;
    }
    return failure !== "final" && this.used <= this.#limits.maxRetries;
  }

  /** The first calls of a batch are refused together, before any can be answered. */
  #forgiveRefusals(): void {
    const forgiven = Math.min(this.#free, this.#refusals);
    this.#free -= forgiven;
    this.used -= forgiven;
    this.#refusals = 0;
  }
}
