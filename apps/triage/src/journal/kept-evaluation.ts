import { checkAnswers, type Evaluation, EvaluatorError, type Questions } from "evaluator-client";

/** An evaluation as the journal keeps it: all but the body as it came. */
export type KeptEvaluation<TQuestions extends Questions = Questions> = Omit<
  Evaluation<TQuestions>,
  "raw"
>;

/** Writes an evaluation as the text that is kept. */
export function toKeptText(evaluation: Evaluation): string {
  return JSON.stringify({ ...evaluation, raw: undefined });
}

/** Reads kept text back; null when it does not answer the questions. */
export function fromKeptText(text: string, questions: Questions): KeptEvaluation | null {
  const kept = JSON.parse(text) as KeptEvaluation;
  try {
    checkAnswers({ questions, answers: kept.answers, rounding: kept.rounding });
    return kept;
  } catch (error) {
    if (error instanceof EvaluatorError) return null;
    throw error;
  }
}
