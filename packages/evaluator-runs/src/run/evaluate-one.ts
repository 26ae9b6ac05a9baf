import {
  AuthenticationError,
  ConfigurationError,
  type EvaluationRequest,
  type Evaluator,
  EvaluatorError,
  isStateCut,
  RefusalError,
  StatusError,
} from "evaluator-client";
import {
  type CallFailure,
  type AskedEvaluation,
  toCutFailure,
  toFailure,
  withRest,
} from "../call-failure.ts";

/**
 * The limits of a call. A service that is busy for a minute must not cost a record its answer, and a
 * wait for the service's limit is normal, so no call gives up within a day.
 */
export const callLimits = { maxRetries: 6, deadlineMs: 86_400_000 } as const;

/** How a call is made. */
export interface AskOptions {
  readonly signal: AbortSignal;
  /** Whether acts are promised, for which the whole state must have been read. @default false */
  readonly hasPromise?: boolean;
}

/** How a call about a record ended. */
export type CallOutcome = { evaluation: AskedEvaluation } | CallFailure;

/** Asks once, and returns the answer or the failure; other errors than an `EvaluatorError` are thrown. */
export async function evaluateOne(
  evaluator: Evaluator,
  request: EvaluationRequest,
  { signal, hasPromise = false }: AskOptions,
): Promise<CallOutcome> {
  const wholeOrFailure = (callOutcome: CallOutcome) =>
    hasPromise && "evaluation" in callOutcome && isStateCut(callOutcome.evaluation)
      ? toCutFailure(callOutcome.evaluation)
      : callOutcome;
  try {
    const evaluation = await evaluator.evaluate(request, { signal });
    return wholeOrFailure({ evaluation });
  } catch (cause) {
    if (!(cause instanceof EvaluatorError)) throw cause;
    return cause instanceof RefusalError ? wholeOrFailure(withRest(cause)) : toFailure(cause);
  }
}

/** Returns whether every further call would fail for the same reason here, such as a wrong key. */
export function endsRun(error: EvaluatorError): boolean {
  const isUnpaid = error instanceof StatusError && error.status === 402;
  return isUnpaid || error instanceof AuthenticationError || error instanceof ConfigurationError;
}
