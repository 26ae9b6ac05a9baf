/** Time as this package sees it; tests pass their own. */
export interface Clock {
  /** Monotonic time in milliseconds, for limits and waits. */
  now(): number;
  /** Milliseconds since the epoch, for dates in headers only. */
  epochNow(): number;
  /** Calls back once after `delayMs`; the returned function cancels. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  epochNow: () => Date.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
