import type { EvaluatorError } from "../errors.ts";

/** A refusal (429, 503) after which all calls wait. */
export interface Refusal {
  /** The wait that the service asks for, in milliseconds, or null. */
  readonly retryAfterMs: number | null;
  /** A number from 0 to 1. */
  readonly random: number;
  /** The error of the refused call. */
  readonly cause: EvaluatorError | null;
}

/** A time in which no call is sent. Each further refusal makes it longer. */
export class Pause {
  /** The error that began the pause. */
  cause: EvaluatorError | null = null;
  opensAtMs = Number.NEGATIVE_INFINITY;
  /** Refusals in a row. */
  refusals = 0;

  /** Returns how long the pause lasts at least, in milliseconds. */
  leftMs(nowMs: number): number {
    return Math.max(0, this.opensAtMs - nowMs);
  }

  /** Returns when a call with a `WaitLimit` may expect the end: never, if the first call after the pause was refused. */
  endsAtMs(nowMs: number): number {
    return this.refusals > 1 ? Number.POSITIVE_INFINITY : Math.max(this.opensAtMs, nowMs);
  }

  /** Counts a refusal; returns how long the pause has to last after it, in milliseconds. */
  add({ retryAfterMs, random, cause }: Refusal): number {
    const { refusals } = this;
    this.refusals += 1;
    this.cause = cause;
    return retryDelayMs({ retries: refusals, isThrottled: true, retryAfterMs, random });
  }

  extendTo(untilMs: number): void {
    this.opensAtMs = Math.max(this.opensAtMs, untilMs);
  }
}

// Chosen, not measured: a first retry that no user notices.
const BASE_MS = 250;
// Half: 2.7 % of a bucket of 200 a second are refused instead of 1.4 %.
const THROTTLED_BASE_MS = 1000;
// Twice: a call may wait twice as long, and no limit is used better.
const CAP_MS = 8000;

/**
 * Returns the delay before the next attempt, in milliseconds.
 *
 * @param input - `retries`: those made so far. `isThrottled`: whether the service reported a limit.
 * `retryAfterMs`: the wait that it asks for, or null. `random`: a number from 0 to 1.
 */
export function retryDelayMs(input: {
  retries: number;
  isThrottled: boolean;
  retryAfterMs: number | null;
  random: number;
}): number {
  const { retries, isThrottled, retryAfterMs, random } = input;
  if (retryAfterMs !== null) return retryAfterMs + random * Math.min(1000, retryAfterMs / 10);
  const baseMs = isThrottled ? THROTTLED_BASE_MS : BASE_MS;
  return random * Math.min(CAP_MS, baseMs * 2 ** retries);
}
