import { EvaluatorError, RateLimitError, StatusError, TimeoutError } from "../errors.ts";
import type { Admission } from "../pacing/call-queue.ts";
import { findRetryAfterMs } from "./retry-policy.ts";

/** Reports to the pacer that a request failed; returns how the call goes on. */
export function endFailed(
  admission: Admission,
  error: unknown,
  statuses: readonly number[] | undefined,
) {
  const failure = classifyFailure(error, statuses);
  if (failure === "throttled") {
    return admission.throttled(findRetryAfterMs(toRefusal(error)), error as EvaluatorError);
  }
  admission.ended();
  return failure;
}

/** Classifies a failure; the pacer then decides whether a refusal shows a limit. */
export function classifyFailure(
  error: unknown,
  statuses: readonly number[] | undefined,
): "final" | "retryable" | "throttled" {
  if (!(error instanceof EvaluatorError) || !isRetried(error, statuses)) return "final";
  const refusal = toRefusal(error);
  const isThrottled =
    refusal instanceof RateLimitError || (refusal instanceof StatusError && refusal.status === 503);
  return isThrottled ? "throttled" : "retryable";
}

/** Returns the refusal of a request; if the probe of a pause times out, that which began the pause. */
function toRefusal(error: unknown): unknown {
  return error instanceof TimeoutError ? error.cause : error;
}

/** Whether an error is tried again; the service's word and then the caller's list are the last ones. */
function isRetried(error: EvaluatorError, statuses: readonly number[] | undefined): boolean {
  if (statuses === undefined || !(error instanceof StatusError)) return error.isRetryable;
  return error.shouldRetry !== false && statuses.includes(error.status);
}
