import type { Clock } from "../clock.ts";
import type { Hooks } from "../logger.ts";
import type { WaitLimit } from "../pacing/call-queue.ts";
import type { Pacer } from "../pacing/pacer.ts";
import type { Failure } from "./turns.ts";

/** How often, how long and at which pace to try. */
export interface RetryPolicy {
  /** Retries after the first attempt. */
  readonly maxRetries: number;
  /** Refusals (429, 503) that do not count as retries while the service answers other calls. @default 0 */
  readonly freeRetries?: number;
  /** The number of answers to the calls of a batch; each call adds its own. */
  readonly answered?: { count: number };
  /** Makes a call fail early instead of waiting. */
  readonly waitLimit?: WaitLimit;
  /** Time over all attempts and waits, in milliseconds; infinite for none. */
  readonly deadlineMs: number;
  /** Time for each attempt, headers and body, in milliseconds. */
  readonly attemptTimeoutMs: number;
  /** Whether an attempt that runs out of time may be charged for. @default true */
  readonly maybeBilled?: boolean;
  /** The caller's own signal. */
  readonly signal?: AbortSignal | undefined;
  /** Headers that the call adds to those of the transport. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly pacer: Pacer;
  readonly hooks: Hooks | null;
  readonly clock: Clock;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
}

/** Counts the retries of a call. */
export class RetryCount {
  readonly #policy: RetryPolicy;
  /** Retries used so far, without the free ones. */
  used = 0;
  #free: number;
  /** The refusals among the used ones since another call was answered. */
  #refusals = 0;
  #answeredBefore: number;

  constructor(policy: RetryPolicy, answeredBefore: number) {
    this.#policy = policy;
    this.#free = policy.maxRetries > 0 ? (policy.freeRetries ?? 0) : 0;
    this.#answeredBefore = answeredBefore;
  }

  /** Counts a failed attempt; returns whether the call may be tried again. */
  allows(failure: Failure): boolean {
    const isRefusal = failure === "limit" || failure === "stray";
    const answered = this.#policy.answered?.count ?? 0;
    const isAnswered = answered > this.#answeredBefore;
    this.#answeredBefore = answered;
    if (isRefusal && isAnswered) this.#forgiveRefusals();
    if (this.#free > 0 && (failure === "stray" || (isRefusal && isAnswered))) this.#free -= 1;
    else {
      this.used += 1;
      if (isRefusal) this.#refusals += 1;
    }
    return failure !== "final" && this.used <= this.#policy.maxRetries;
  }

  /** The first calls of a batch are refused together, before any can be answered. */
  #forgiveRefusals(): void {
    const forgiven = Math.min(this.#free, this.#refusals);
    this.#free -= forgiven;
    this.used -= forgiven;
    this.#refusals = 0;
  }
}
