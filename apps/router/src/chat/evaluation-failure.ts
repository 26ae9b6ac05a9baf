import {
  AuthenticationError,
  type EvaluatorError,
  RateLimitError,
  TimeoutError,
} from "evaluator-client";

/** How a failed evaluation is told to the router's own client. */
export interface EvaluationFailure {
  readonly status: 429 | 502 | 504;
  /** What went wrong and what to do. */
  readonly error: string;
  /** Seconds to wait, when the service says so. */
  readonly retryAfterSeconds: number | null;
}

/** The status and text for a failed evaluation; a refused key is the router's fault, not its client's. */
export function toEvaluationFailure(error: EvaluatorError): EvaluationFailure {
  const failure = { error: error.message, retryAfterSeconds: null };
  if (error instanceof TimeoutError) return { ...failure, status: 504 };
  if (error instanceof RateLimitError) {
    const { retryAfterMs } = error;
    const retryAfterSeconds = retryAfterMs === null ? null : Math.ceil(retryAfterMs / 1000);
    return { ...failure, status: 429, retryAfterSeconds };
  }
  if (error instanceof AuthenticationError && !error.needsPaidCredits) {
    const refused = `The evaluation service refused this router's key. ${error.message}`;
    return { ...failure, status: 502, error: refused };
  }
  return { ...failure, status: 502 };
}
