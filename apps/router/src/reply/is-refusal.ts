import { RetryError } from "ai";

// Out of credits, not allowed, not there, over the limit; 401 would refuse any other model too.
const refusals: ReadonlySet<unknown> = new Set([402, 403, 404, 429]);

/** Whether the gateway refused this model, so that another one may be allowed. */
export function isRefusal(error: unknown): boolean {
  const last = RetryError.isInstance(error) ? error.lastError : error;
  return last instanceof Error && "statusCode" in last && refusals.has(last.statusCode);
}
