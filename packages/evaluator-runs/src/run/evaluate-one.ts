import {
  AuthenticationError,
  ConfigurationError,
  type Evaluation,
  type EvaluationRequest,
  type Evaluator,
  EvaluatorError,
  InvalidResponseError,
  isStateCut,
  RefusalError,
  restOfRefusal,
  StatusError,
} from "evaluator-client";
import { toPrintable } from "evaluator-kit";

/**
 * The limits of a call. A service that is busy for a minute must not cost a record its answer, and a
 * wait for the service's limit is normal, so no call gives up within a day.
 */
export const callLimits = { maxRetries: 6, deadlineMs: 86_400_000 } as const;

/**
 * The failure of a call; `isRefusal`: the service refuses the record each time, so that it is not asked again.
 * `paid` is an evaluation that was paid for and is not used.
 */
type Failure = { error: string; isRefusal: boolean; cause: EvaluatorError; paid?: Evaluation };

/** An evaluation, with the ids of the questions that the model declined to answer, if any. */
type AskedEvaluation = Evaluation & { readonly refused?: readonly string[] };

/** How a call is made. */
interface AskOptions {
  readonly signal: AbortSignal;
  /** Whether acts are promised, for which the whole state must have been read. @default false */
  readonly hasPromise?: boolean;
}

/** Asks once, and returns the answer or the failure; other errors than an `EvaluatorError` are thrown. */
export async function evaluateOne(
  evaluator: Evaluator,
  request: EvaluationRequest,
  { signal, hasPromise = false }: AskOptions,
): Promise<{ evaluation: AskedEvaluation } | Failure> {
  try {
    const evaluation = await evaluator.evaluate(request, { signal });
    return hasPromise && isStateCut(evaluation) ? toCutFailure(evaluation) : { evaluation };
  } catch (cause) {
    if (cause instanceof RefusalError) return withRest(cause);
    if (!(cause instanceof EvaluatorError)) throw cause;
    const isRefusal = isTooLong(cause);
    const text = isRefusal ? `${withoutAdvice(cause.message)} ${shorten}` : cause.message;
    return { error: toPrintable(text), isRefusal, cause };
  }
}

/** Returns the answers beside refused ones, which were paid for; without any, the failure. */
function withRest(cause: RefusalError): { evaluation: AskedEvaluation } | Failure {
  const rest = restOfRefusal(cause);
  const hasAnswers = Object.keys(cause.answers).length > 0;
  if (rest !== null && hasAnswers) return { evaluation: { ...rest, refused: cause.questionIds } };
  const error = toPrintable(cause.message);
  return { error, isRefusal: true, cause, ...(rest && { paid: rest }) };
}

function toCutFailure(paid: Evaluation): Failure {
  const message =
    "The service did not read the whole state, so that the promise of the calibration does not hold for it: shorten the record; it is not asked again until the record, the questions or the engine change.";
  const cause = new InvalidResponseError(message, { questionId: null, rule: "state-cut" });
  return { error: message, isRefusal: true, cause, paid };
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
