/** The time, and calls that come later. */
export interface Clock {
  /** Returns monotonic time in milliseconds. */
  now(): number;
  /** Returns the date and time of day. */
  today(): Date;
  /** Calls once, after so many milliseconds; the result takes it back. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** Reads the time of this machine. */
export const systemClock: Clock = {
  now: () => performance.now(),
  today: () => new Date(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
