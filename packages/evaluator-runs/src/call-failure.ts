import {
  type Evaluation,
  type EvaluatorError,
  InvalidRequestError,
  InvalidResponseError,
  type RefusalError,
  restOfRefusal,
  StatusError,
} from "evaluator-client";
import { toPrintable } from "evaluator-kit";

/**
 * The failure of a call; `isRefusal`: the service refuses the record each time, so that it is not asked again.
 * `paid` is an evaluation that was paid for and is not used.
 */
export type CallFailure = {
  error: string;
  isRefusal: boolean;
  cause: EvaluatorError;
  paid?: Evaluation;
};

/** An evaluation, with the ids of the questions that the model declined to answer, if any. */
export type AskedEvaluation = Evaluation & { readonly refused?: readonly string[] };

/** Returns the failure of a call with its error. */
export function toFailure(cause: EvaluatorError): CallFailure {
  const isRefusal = isTooLong(cause);
  const advice = cause instanceof InvalidResponseError ? ` ${paidAgain}` : "";
  const text = isRefusal ? `${withoutAdvice(cause.message)} ${shorten}` : cause.message + advice;
  return { error: toPrintable(text), isRefusal, cause };
}

/** Returns the answers beside refused ones, which were paid for; without any, the failure. */
export function withRest(cause: RefusalError): { evaluation: AskedEvaluation } | CallFailure {
  const rest = restOfRefusal(cause);
  const hasAnswers = Object.keys(cause.answers).length > 0;
  if (rest !== null && hasAnswers) return { evaluation: { ...rest, refused: cause.questionIds } };
  const error = toPrintable(cause.message);
  return { error, isRefusal: true, cause, ...(rest && { paid: rest }) };
}

/** Returns the failure of a call whose service did not read the whole state. */
export function toCutFailure(paidEvaluation: Evaluation): CallFailure {
  const message = `The service did not read the whole state, so no promise holds. ${untilChanged}`;
  const cause = new InvalidResponseError(message, { questionId: null, rule: "state-cut" });
  return { error: message, isRefusal: true, cause, paid: paidEvaluation };
}

// The advice about a refused record.
const untilChanged =
  "Shorten the record; it is asked again if it, the questions or the engine change.";
const shorten = `The record is too long for the service. ${untilChanged}`;

// A model may answer in another way, or be mended behind the same name, so the answer is no refusal.
const paidAgain =
  "It may have been charged for; the same command asks again, and may be charged again.";

// The client's message about a status: who answered, the service's words in quotes, advice.
const statusMessage = /^([\w' ]{1,40} answered \d+(?: \(\w+\))?)(?:(: ".*") [A-Z]|\. )/s;

// The client's advice for programs.
const ofPrograms = / Shorten it, for example with cutText\(\)\.$/;

function withoutAdvice(message: string): string {
  const [, answeredText, words = "."] = statusMessage.exec(message) ?? [];
  return answeredText === undefined ? message.replace(ofPrograms, "") : `${answeredText}${words}`;
}

const tooLong =
  /too (?:long|large|many tokens)|context[ _](?:length|size|window)|exceed.{0,80}(?:length|size|tokens)|tokens.{0,80}exceed/i;

// The service refuses such a record each time.
function isTooLong(error: EvaluatorError): boolean {
  if (error instanceof InvalidRequestError) return tooLong.test(error.message);
  if (!(error instanceof StatusError)) return false;
  const { status, type, message } = error;
  return (
    status === 413 || ((status === 400 || status === 422) && tooLong.test(`${type} ${message}`))
  );
}
