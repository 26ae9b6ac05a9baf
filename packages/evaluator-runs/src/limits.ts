import type { RateLimits, Transport } from "evaluator-client";

interface TypedLimits {
  /** Requests a minute, for all machines. */
  readonly rate?: number | undefined;
  /** Requests at once. */
  readonly concurrency?: number | undefined;
}

/** Returns the limits of a key: as typed, else as the transport knows them. */
export function listLimits(
  { rate }: TypedLimits,
  { limits = {} }: Pick<Transport, "limits">,
): RateLimits {
  return rate === undefined ? limits : { ...limits, requestsPerMinute: rate };
}

/** As many as `evaluateMany` has at once. */
const UNLIMITED = 8;
const MOST = 64;

/** Returns how many requests are sent at once: as typed, else enough to use a limit with calls of a second. */
export function computeConcurrency(
  typedLimits: TypedLimits,
  transport: Pick<Transport, "limits">,
): number {
  const { requestsPerMinute } = listLimits(typedLimits, transport);
  const neededCount =
    requestsPerMinute === undefined ? UNLIMITED : Math.ceil(requestsPerMinute / 60);
  return typedLimits.concurrency ?? Math.min(neededCount, MOST);
}
