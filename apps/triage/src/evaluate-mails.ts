import { EvaluatorError, type Evaluation, type Evaluator } from "evaluator-client";
import { TriageError } from "./errors.ts";
import type { Mail } from "./input/mail.ts";
import { recordLabel } from "./input/record-label.ts";
import { plainText } from "./text/plain-text.ts";
import type { TriageQuestions } from "./triage-questions.ts";

/** Who answers, what is asked, and what ends it early. */
export interface EvaluateMailsOptions {
  readonly evaluator: Evaluator;
  readonly questions: TriageQuestions;
  readonly signal: AbortSignal;
}

/** A mail and the checked answers about it. */
export interface EvaluatedMail {
  readonly mail: Mail;
  readonly evaluation: Evaluation<TriageQuestions>;
}

/**
 * Asks about each mail in turn: one request at a time, in input order (contract section 4.7).
 *
 * @throws TriageError that names the record no answer came for; the signal's reason when aborted.
 */
export async function* evaluateMails(
  mails: readonly Mail[],
  { evaluator, questions, signal }: EvaluateMailsOptions,
): AsyncGenerator<EvaluatedMail> {
  for (const [index, mail] of mails.entries()) {
    const evaluation = await evaluator
      .evaluate({ state: toState(mail), questions }, { signal })
      .catch((error: unknown) => {
        throw stoppedAt(error, { index, mail, total: mails.length });
      });
    yield { mail, evaluation };
  }
}

// Key names and their order are input to the model (contract section 2.1).
function toState({ from, subject, date, snippet }: Mail) {
  return { from, subject, date, snippet };
}

function stoppedAt(error: unknown, at: { index: number; mail: Mail; total: number }): unknown {
  if (!(error instanceof EvaluatorError)) return error;
  const { index, mail, total } = at;
  return new TriageError(
    `Stopped at the ${recordLabel(index, mail)}: ${plainText(error.message)}\n` +
      `${index} of ${total} records were answered before it; no results were written.`,
    { cause: error },
  );
}
