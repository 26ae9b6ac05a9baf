import type { EvaluatorError } from "../errors.ts";

/** One attempt that has ended. */
export interface AttemptEvent {
  /** Which attempt of the call it was, from 1. */
  readonly attempt: number;
  /** From sending to the checked answer or the error, in milliseconds. */
  readonly durationMs: number;
  /** The HTTP status of the response, or null when there was none. */
  readonly status: number | null;
  /** Why it failed, or null when it succeeded. */
  readonly error: EvaluatorError | null;
}

/** One wait that begins before an attempt. */
export interface WaitEvent {
  /** Which attempt of the call comes after it, from 1. */
  readonly attempt: number;
  /** Its own backoff after a failure, or its turn under the rate limit. */
  readonly reason: "backoff" | "rate-limit";
  /** How long it lasts, in milliseconds, or null when that depends on other calls. */
  readonly delayMs: number | null;
}

/** Callbacks that are told what a call does; what they throw is ignored. */
export interface Watch {
  /** Told after each attempt. */
  onAttempt?(event: AttemptEvent): void;
  /** Told when a wait begins. */
  onWait?(event: WaitEvent): void;
}

/** Joins watches, so that each event reaches all of them, whatever one of them throws. */
export function joinWatches(watches: readonly Watch[]): Required<Watch> {
  return {
    onAttempt: (event) => watches.forEach((watch) => quietly(() => watch.onAttempt?.(event))),
    onWait: (event) => watches.forEach((watch) => quietly(() => watch.onWait?.(event))),
  };
}

/** A broken display or logger must not cost an answer. */
function quietly(tell: () => void): void {
  try {
    tell();
  } catch {
    // Nobody to tell.
  }
}
