const BASE_MS = 250;
const THROTTLED_BASE_MS = 1000;
const CAP_MS = 8000;

/** What the delay before the next attempt depends on. */
export interface RetryDelayInput {
  /** Retries made so far: 0 before the first. */
  retries: number;
  /** Whether the service said that it is over a limit or overloaded. */
  isThrottled: boolean;
  /** How long the service asks to wait, in milliseconds, or null. */
  retryAfterMs: number | null;
  /** A number from 0 to 1. */
  random: number;
}

/** The delay before the next attempt, in milliseconds. */
export function retryDelayMs({ retries, isThrottled, retryAfterMs, random }: RetryDelayInput) {
  if (retryAfterMs !== null) return retryAfterMs + random * Math.min(1000, retryAfterMs / 10);
  const baseMs = isThrottled ? THROTTLED_BASE_MS : BASE_MS;
  return random * Math.min(CAP_MS, baseMs * 2 ** retries);
}
