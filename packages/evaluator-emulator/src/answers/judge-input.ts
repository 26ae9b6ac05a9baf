import type { Opinion } from "../judge/opinion.ts";
import { estimateInputTokens } from "../questions/estimate-tokens.ts";
import type { EvaluationInput, QuestionInput } from "../questions/evaluation-input.ts";
import { mapRecord } from "../questions/map-record.ts";
import { countOutputTokens } from "./count-output-tokens.ts";
import type { Judgement } from "./judgement.ts";
import { printAnswer } from "./print-answer.ts";

/** Answers every question with an opinion; the basis is `none` when no opinion is informed. */
export function judgeInput(
  input: EvaluationInput,
  opinionOn: (question: QuestionInput, id: string) => Opinion,
): Judgement {
  let isInformed = false;
  const answers = mapRecord(input.questions, (question, id) => {
    const opinion = opinionOn(question, id);
    isInformed ||= opinion.isInformed;
    return printAnswer(question, opinion);
  });
  return {
    basis: isInformed ? "lexical" : "none",
    release: null,
    answers,
    usage: { inputTokens: estimateInputTokens(input), outputTokens: countOutputTokens(answers) },
  };
}
