/** The limits of the vendor's side for one key. */
export interface VendorLimits {
  /** @default 1200 */
  readonly requestsPerMinute?: number;
  /** Input tokens. @default 250000 */
  readonly tokensPerSecond?: number;
  /** Requests that may come at once after a pause. @default those of a minute */
  readonly burst?: number;
}

/** The vendor's own limits (field fact). */
const vendorDefaults = { requestsPerMinute: 1200, tokensPerSecond: 250_000 } as const;

/** Counts the vendor's calls of each key; a missing limit is the vendor's own. */
export function createVendorGate(limits: VendorLimits) {
  const buckets = new Map<string, { requests: Bucket; tokens: Bucket }>();
  const { requestsPerMinute, tokensPerSecond } = { ...vendorDefaults, ...limits };
  const { burst = requestsPerMinute } = limits;
  return {
    /** Counts a call, or returns the milliseconds that it should have waited. */
    admit(accountKey: string, tokens: number, nowMs: number) {
      const own = buckets.get(accountKey) ?? {
        requests: createBucket(burst, requestsPerMinute / 60_000, nowMs),
        tokens: createBucket(tokensPerSecond, tokensPerSecond / 1000, nowMs),
      };
      buckets.set(accountKey, own);
      const waitMs = Math.max(own.requests.waitMs(1, nowMs), own.tokens.waitMs(tokens, nowMs));
      if (waitMs > 0) return waitMs;
      own.requests.take(1);
      own.tokens.take(tokens);
      return 0;
    },
    reset: () => buckets.clear(),
    /** The limits as text. */
    rule: `${requestsPerMinute.toLocaleString("en")} requests a minute, ${tokensPerSecond.toLocaleString("en")} tokens a second`,
  };
}

/** Makes a full token bucket. */
function createBucket(capacity: number, perMs: number, startMs: number) {
  let level = capacity;
  let atMs = startMs;
  return {
    /** Returns the wait until the bucket holds an amount; more than its capacity needs a full one. */
    waitMs(amount: number, nowMs: number): number {
      level = Math.min(capacity, level + Math.max(0, nowMs - atMs) * perMs);
      atMs = nowMs;
      const missing = Math.min(amount, capacity) - level;
      // Less than a thousandth is a rounding error of fractions.
      return missing > 0.001 ? Math.ceil(missing / perMs) : 0;
    },
    take(amount: number): void {
      level -= amount;
    },
  };
}

type Bucket = ReturnType<typeof createBucket>;
