/** Time as programs see it, in the form of `Clock` of evaluator-client; tests pass their own. */
export interface Clock {
  /** Returns monotonic time in milliseconds. */
  now(): number;
  /** Returns milliseconds since the epoch. */
  epochNow(): number;
  /** Calls once, after so many milliseconds; the result takes it back. */
  schedule(delayMs: number, callback: () => void): () => void;
}

// Node fires a timer for longer at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Reads the time of this machine; a delay of more than 24 days ends early. */
export const systemClock: Clock = {
  now: () => performance.now(),
  epochNow: () => Date.now(),
  schedule(delayMs, callback) {
    const timeoutHandle = setTimeout(callback, Math.min(delayMs, LONGEST_TIMER_MS));
    return () => clearTimeout(timeoutHandle);
  },
};

/** Resolves after so many milliseconds, or at an interruption. */
export async function pause(
  delayMs: number,
  { clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  if (signal?.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancelTimer = clock.schedule(delayMs, resolve);
  const onAbort = () => resolve();
  signal?.addEventListener("abort", onAbort);
  await promise;
  signal?.removeEventListener("abort", onAbort); // Node warns of eleven
  cancelTimer();
}
