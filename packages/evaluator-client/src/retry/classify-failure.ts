import { type EvaluatorError, RateLimitError, StatusError } from "../errors.ts";

/** What to do about a failed attempt; `throttled` also slows everyone who shares the limit. */
export type FailureClass = "final" | "retryable" | "throttled";

const retryableStatuses = new Set([408, 425, 429, 500, 502, 503, 504, 529]);

/** Whether a status is worth another attempt, given the `x-should-retry` header. */
export function isRetryableStatus(status: number, shouldRetry: string | null): boolean {
  if (shouldRetry === "false") return false;
  if (status === 409) return shouldRetry === "true";
  return retryableStatuses.has(status) || (status >= 520 && status <= 527);
}

/** Sorts the error of a failed attempt. */
export function classifyFailure(error: EvaluatorError): FailureClass {
  if (!error.isRetryable) return "final";
  const isThrottled =
    error instanceof RateLimitError || (error instanceof StatusError && error.status === 503);
  return isThrottled ? "throttled" : "retryable";
}

/** How long the service asks to wait, in milliseconds, or null where it does not say. */
export function retryAfterMsOf(error: unknown): number | null {
  return error instanceof StatusError ? error.retryAfterMs : null;
}
