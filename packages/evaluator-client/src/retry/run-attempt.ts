import type { AttemptContext } from "../transports/transport.ts";
import { Attempt } from "./attempt.ts";
import type { Clock } from "../clock.ts";

/** How one attempt may end before its answer. */
export interface AttemptLimits {
  readonly clock: Clock;
  /** The caller's own signal; its reason is thrown as it is. */
  readonly signal: AbortSignal | undefined;
  /** Time for the whole attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** Makes the error thrown when that time passes. */
  readonly createTimeoutError: () => Error;
}

/**
 * Runs one attempt under a time limit and the caller's signal. It settles as soon as either ends
 * it, whether or not the attempt listens, and leaves neither timer nor listener behind.
 */
export function runAttempt<TValue>(
  send: (context: AttemptContext) => Promise<TValue>,
  { clock, signal, timeoutMs, createTimeoutError }: AttemptLimits,
): Promise<TValue> {
  if (signal?.aborted) return Promise.reject(signal.reason);
  return new Promise<TValue>((resolve, reject) => {
    const attempt = new Attempt(clock);
    const release = () => {
      cancelTimeout();
      signal?.removeEventListener("abort", onAbort);
    };
    const fail = (reason: unknown) => {
      release();
      reject(reason);
    };
    const end = (reason: unknown) => {
      fail(reason);
      attempt.abort(reason);
    };
    const onAbort = () => end(signal?.reason);
    const cancelTimeout = clock.schedule(timeoutMs, () => end(createTimeoutError()));
    signal?.addEventListener("abort", onAbort);
    send(attempt).then((value) => {
      release();
      resolve(value);
    }, fail);
  });
}
