import * as z from "zod/mini";
import { optionsObject } from "../options.ts";

// The share of a known limit that is used. Chosen as a margin for a service that counts differently;
// one that counts as we do throttles nothing at 100 % either (processes-simulation.test.ts).
export const SHARE_OF_LIMIT = 0.95;

/** The schema of {@link RateLimits}. */
export const rateLimitsSchema = optionsObject({
  requestsPerMinute: z.optional(z.number().check(z.positive())),
  tokensPerSecond: z.optional(z.number().check(z.positive())),
});
/** Known limits of a service; 95 % of each is used. */
export interface RateLimits {
  /** Requests per minute, over everyone who shares the key. */
  readonly requestsPerMinute?: number | undefined;
  /** Input tokens per second, over everyone who shares the key. */
  readonly tokensPerSecond?: number | undefined;
}

/** Returns limits of which only a share is used. */
export function scaleLimits(limits: RateLimits, limitShare: number): RateLimits {
  const { requestsPerMinute, tokensPerSecond } = limits;
  return {
    ...(requestsPerMinute !== undefined && { requestsPerMinute: requestsPerMinute * limitShare }),
    ...(tokensPerSecond !== undefined && { tokensPerSecond: tokensPerSecond * limitShare }),
  };
}

/** A budget that refills evenly; an amount larger than the capacity passes once it is full, as a debt. */
export class TokenBucket {
  readonly #amountPerMs: number;
  readonly #capacity: number;
  #fullAtMs = Number.NEGATIVE_INFINITY;

  /** @param perSecond - The refill rate; the capacity is one second's worth, at least 1. */
  constructor(perSecond: number) {
    this.#amountPerMs = perSecond / 1000;
    this.#capacity = Math.max(1, perSecond);
  }

  /** How long until `amount` may be taken, in milliseconds; 0 when it may be now. */
  delayMs(amount: number, nowMs: number): number {
    const currentLevel = this.#capacity - Math.max(0, this.#fullAtMs - nowMs) * this.#amountPerMs;
    const missing = Math.min(amount, this.#capacity) - currentLevel;
    return missing <= 1e-9 ? 0 : missing / this.#amountPerMs;
  }

  /** Takes `amount`; a negative amount gives back. */
  take(amount: number, nowMs: number): void {
    this.#fullAtMs = Math.max(this.#fullAtMs, nowMs) + amount / this.#amountPerMs;
  }
}
