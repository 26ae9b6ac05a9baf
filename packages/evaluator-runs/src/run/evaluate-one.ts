import {
  AuthenticationError,
  ConfigurationError,
  type Evaluation,
  type EvaluationRequest,
  type Evaluator,
  EvaluatorError,
  StatusError,
} from "evaluator-client";
import { toPrintable } from "evaluator-kit";

/**
 * The limits of a call. A service that is busy for a minute must not cost a record its answer, and a
 * wait for the service's limit is normal, so no call gives up within a day.
 */
export const callLimits = { maxRetries: 6, deadlineMs: 86_400_000 } as const;

/** The failure of a call; `isRefusal`: the service refuses the record each time, so that it is not asked again. */
type Failure = { error: string; isRefusal: boolean; cause: EvaluatorError };

/** Asks once, and returns the answer or the failure; other errors than an `EvaluatorError` are thrown. */
export async function evaluateOne(
  evaluator: Evaluator,
  request: EvaluationRequest,
  signal: AbortSignal,
): Promise<{ evaluation: Evaluation } | Failure> {
  try {
    return { evaluation: await evaluator.evaluate(request, { signal }) };
  } catch (cause) {
    if (!(cause instanceof EvaluatorError)) throw cause;
    const isRefusal = isTooLong(cause);
    const text = isRefusal ? `${withoutAdvice(cause.message)} ${shorten}` : cause.message;
    return { error: toPrintable(text), isRefusal, cause };
  }
}

/** Returns whether every further call would fail for the same reason here, such as a wrong key. */
export function endsRun(error: EvaluatorError): boolean {
  const isUnpaid = error instanceof StatusError && error.status === 402;
  return isUnpaid || error instanceof AuthenticationError || error instanceof ConfigurationError;
}

// The advice about a refused record.
const shorten =
  "The record is too long for the service: shorten it or its state; it is not asked again until the record, the questions or the engine change.";

// The client's message about a status: who answered, the service's words in quotes, advice.
const statusMessage =
  /^((?:The gateway|The vendor's API|The server) answered \d+(?: \(\w+\))?)(?:(: ".*") [A-Z]|\. )/s;

function withoutAdvice(message: string): string {
  const [, answered, words = "."] = statusMessage.exec(message) ?? [];
  return answered === undefined ? message : `${answered}${words}`;
}

const tooLong =
  /too (?:long|large|many tokens)|context[ _](?:length|size|window)|exceed.{0,80}(?:length|size|tokens)|tokens.{0,80}exceed/i;

// The service refuses such a record each time.
function isTooLong(error: EvaluatorError): boolean {
  if (!(error instanceof StatusError)) return false;
  const { status, type, message } = error;
  return (
    status === 413 || ((status === 400 || status === 422) && tooLong.test(`${type} ${message}`))
  );
}
