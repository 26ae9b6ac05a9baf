import { lexicalJudge } from "../judge/lexical-judge.ts";
import { estimateInputTokens } from "../questions/estimate-tokens.ts";
import type { EvaluationInput } from "../questions/evaluation-input.ts";
import { mapRecord } from "../questions/map-record.ts";
import { countOutputTokens } from "./count-output-tokens.ts";
import type { Judgement } from "./judgement.ts";
import { printAnswer } from "./print-answer.ts";

/** Answers any request with the lexical judge; the basis is `none` when no answer is informed. */
export function lexicalAnswers(input: EvaluationInput): Judgement {
  const judge = lexicalJudge(input.state);
  const judged = mapRecord(input.questions, (question) => {
    const opinion = judge(question);
    return { opinion, answer: printAnswer(question, opinion) };
  });
  const answers = mapRecord(judged, ({ answer }) => answer);
  const isInformed = Object.values(judged).some(({ opinion }) => opinion.isInformed);
  return {
    basis: isInformed ? "lexical" : "none",
    release: null,
    answers,
    usage: { inputTokens: estimateInputTokens(input), outputTokens: countOutputTokens(answers) },
  };
}
