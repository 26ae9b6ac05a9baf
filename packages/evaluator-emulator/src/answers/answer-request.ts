import { lexicalJudge } from "../judge/lexical-judge.ts";
import type { EvaluationInput } from "../questions/evaluation-input.ts";
import { judgeInput } from "./judge-input.ts";
import type { AnswerSource, Judgement } from "./judgement.ts";

/**
 * Answers a request from the first source that can; the lexical judge comes last and always can.
 *
 * @param sources - In order: recorded exchanges, then the user's rules.
 */
export function answerRequest(input: EvaluationInput, sources: readonly AnswerSource[]): Judgement {
  for (const source of sources) {
    const judgement = source(input);
    if (judgement !== null) return judgement;
  }
  return judgeInput(input, lexicalJudge(input.state));
}
