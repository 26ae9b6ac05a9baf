import type { Failure } from "./attempt.ts";

/** How many retries a call has. */
export interface RetryLimits {
  /** Retries after the first attempt. */
  readonly maxRetries: number;
  /** Refusals (429, 503) that do not count as retries while the service answers others. @default 0 */
  readonly freeRetries?: number;
  /** The answers that the calls of a batch got; each call adds its own. */
  readonly answered?: { count: number };
}

/** The retries that a call has used. */
export class RetryCount {
  readonly #limits: RetryLimits;
  #used = 0;
  #free: number;
  /** The refusals among the used ones since another call was answered. */
  #refusals = 0;
  #answeredBefore: number;

  constructor(limits: RetryLimits) {
    this.#limits = limits;
    this.#free = limits.maxRetries > 0 ? (limits.freeRetries ?? 0) : 0;
    this.#answeredBefore = this.#answered;
  }

  /** Retries used so far; free ones are not counted. */
  get used(): number {
    return this.#used;
  }

  /** Takes in how an attempt failed; returns whether the call may be tried again. */
  allows(failure: Failure): boolean {
    const isRefusal = failure === "limit" || failure === "stray";
    const isAnswered = this.#answered > this.#answeredBefore;
    this.#answeredBefore = this.#answered;
    if (isRefusal && isAnswered) this.#forgiveRefusals();
    if (this.#free > 0 && (failure === "stray" || (isRefusal && isAnswered))) this.#free -= 1;
    else {
      this.#used += 1;
      if (isRefusal) this.#refusals += 1;
    }
    return failure !== "final" && this.#used <= this.#limits.maxRetries;
  }

  get #answered(): number {
    return this.#limits.answered?.count ?? 0;
  }

  /** The first calls of a batch are refused together, before any can be answered. */
  #forgiveRefusals(): void {
    const forgiven = Math.min(this.#free, this.#refusals);
    this.#free -= forgiven;
    this.#used -= forgiven;
    this.#refusals = 0;
  }
}
