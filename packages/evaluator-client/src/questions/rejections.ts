import { InvalidRequestError, InvalidResponseError } from "../errors.ts";
import { quoteName } from "./json.ts";

/** Throws an `InvalidRequestError` about a question; `flaw` is the predicate of its message. */
export function rejectQuestion(questionId: string, flaw: string): never {
  throw new InvalidRequestError(`The question ${quoteName(questionId)} ${flaw}.`, { questionId });
}

/** Throws an `InvalidResponseError` about an answer; `flaw` is the predicate of its message. */
export function rejectAnswer(
  questionId: string,
  { rule, flaw, advice }: { rule: string; flaw: string; advice: string },
): never {
  const message = `The answer ${quoteName(questionId)} ${flaw} (rule ${rule}); it is not used. ${advice}`;
  throw new InvalidResponseError(message, { questionId, rule });
}

/** Returns the error for a response body with another shape than that of `form`; `where` has its preposition. */
export function invalidBody(
  form: string,
  where: string,
  toCheck = 'the base URL and the option "wire"',
): InvalidResponseError {
  const message = `The response body does not have the shape of ${form} ${where}; check ${toCheck}.`;
  return new InvalidResponseError(message, { questionId: null, rule: "body-shape" });
}
