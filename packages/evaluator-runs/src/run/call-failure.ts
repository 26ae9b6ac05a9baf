import { toPrintable } from "evaluator-kit";
import { type EvaluatorError, StatusError } from "evaluator-client";

/** Why a call got no answer, as a journal keeps it. */
export interface KeptFailure {
  readonly error: string;
  /** Whether the service refuses the mail each time, so that it is not asked again. */
  readonly isRefusal: boolean;
}

/** Returns what is kept of a call's error. */
export function toFailure(error: EvaluatorError): KeptFailure {
  const isRefusal = isTooLong(error);
  const said = isRefusal ? `${withoutAdvice(error.message)} ${shorten}` : error.message;
  return { error: toPrintable(said), isRefusal };
}

/** What to do about a mail that is refused. */
export const shorten =
  "The mail is too long for the service: shorten it, or what its state has of it; it is not asked again until the mail, the questions or the engine change.";

// What evaluator-client says of a status: who answered it, the service's words in quotes, advice.
const saidOfStatus =
  /^((?:The gateway|The vendor's API|The server) answered \d+(?: \(\w+\))?)(?:(: ".*") [A-Z]|\. )/s;

/** Returns who answered what, in the service's own words; all of a message of another shape. */
function withoutAdvice(message: string): string {
  const [, answered, words = "."] = saidOfStatus.exec(message) ?? [];
  return answered === undefined ? message : `${answered}${words}`;
}

const tooLong =
  /too (?:long|large|many tokens)|context[ _](?:length|size|window)|exceed.{0,80}(?:length|size|tokens)|tokens.{0,80}exceed/i;

/** Returns whether the service refuses a mail as too long, which it does each time. */
export function isTooLong(error: EvaluatorError): boolean {
  if (!(error instanceof StatusError)) return false;
  const { status, type, message } = error;
  return (
    status === 413 || ((status === 400 || status === 422) && tooLong.test(`${type} ${message}`))
  );
}
