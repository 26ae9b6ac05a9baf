/** The time, and calls that come later. */
export interface Clock {
  /** Monotonic time in milliseconds. */
  now(): number;
  /** The date, for what a person calls today. */
  today(): Date;
  /** Calls once, after so many milliseconds; the result takes it back. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => performance.now(),
  today: () => new Date(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
