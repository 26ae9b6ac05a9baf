import type { EvaluationInput } from "../questions/evaluation-input.ts";
import type { AnswerSource, Judgement } from "./judgement.ts";
import { lexicalAnswers } from "./lexical-answers.ts";

/**
 * Answers a request from the first source that can; the lexical judge comes last and always can.
 *
 * @param sources - In order, such as recorded exchanges.
 */
export function answerRequest(input: EvaluationInput, sources: readonly AnswerSource[]): Judgement {
  for (const source of sources) {
    const judgement = source(input);
    if (judgement !== null) return judgement;
  }
  return lexicalAnswers(input);
}
