import type { EvaluatorError } from "./errors.ts";

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
  /** How long it lasts, in milliseconds: at least the pause of all calls; null when not known. */
  readonly delayMs: number | null;
}

/** Callbacks for the events of a call; their errors are ignored. */
export interface Hooks {
  /** Called after each attempt. */
  onAttempt?(event: AttemptEvent): void;
  /** Called when a wait begins. */
  onWait?(event: WaitEvent): void;
}

/**
 * Joins hooks so that each event reaches all of them, even if one throws. If none of them has a
 * callback, it returns null or omits that callback, and no event is made.
 */
export function joinHooks(...given: readonly (Hooks | null)[]): Hooks | null {
  const attempts = given.filter((hooks) => hooks?.onAttempt !== undefined);
  const waits = given.filter((hooks) => hooks?.onWait !== undefined);
  if (attempts.length + waits.length === 0) return null;
  return {
    ...(attempts.length > 0 && {
      onAttempt: (event) => attempts.forEach((hooks) => quietly(() => hooks?.onAttempt?.(event))),
    }),
    ...(waits.length > 0 && {
      onWait: (event) => waits.forEach((hooks) => quietly(() => hooks?.onWait?.(event))),
    }),
  };
}

/** Calls a function of the user: a broken display or logger must not cost an answer. */
export function quietly(call: () => void): void {
  try {
    call();
  } catch {
    // No caller could handle it.
  }
}
