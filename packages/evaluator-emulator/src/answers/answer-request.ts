import { mapRecord } from "../json.ts";
import { lexicalJudge } from "../judge/judge.ts";
import type { Opinion } from "../judge/shares.ts";
import type { EvaluationInput, QuestionInput } from "../questions/question.ts";
import { estimateInputTokens } from "../questions/tokens.ts";
import type { AnswerSource, JudgedAnswer, Judgement } from "./judgement.ts";
import { printAnswer } from "./print-answer.ts";

/**
 * Answers a request from the first source that can; the lexical judge comes last and always can.
 *
 * @param sources - In order: recorded exchanges, then the user's rules.
 */
export function answerRequest(
  input: EvaluationInput,
  sources: readonly AnswerSource[],
  { decimals, confidence }: Printing,
): Judgement {
  const judgement = answerFrom(input, sources, decimals);
  return confidence ? judgement : { ...judgement, answers: mapRecord(judgement.answers, unsure) };
}

/** How answers are printed. */
export interface Printing {
  /** Decimal places, at most. */
  readonly decimals: number;
  /** Whether answers carry a confidence. */
  readonly confidence: boolean;
}

function answerFrom(
  input: EvaluationInput,
  sources: readonly AnswerSource[],
  decimals: number,
): Judgement {
  for (const source of sources) {
    const judgement = source(input, decimals);
    if (judgement !== null) return judgement;
  }
  return judgeInput(input, lexicalJudge(input.state), decimals);
}

function unsure(answer: JudgedAnswer): JudgedAnswer {
  return answer.type === "boolean" ? answer : { ...answer, confidence: null };
}

/** Answers every question with an opinion; the basis is `none` when no opinion is informed. */
export function judgeInput(
  input: EvaluationInput,
  opinionOn: (question: QuestionInput, id: string) => Opinion,
  decimals: number,
): Judgement {
  let isInformed = false;
  const answers = mapRecord(input.questions, (question, id) => {
    const opinion = opinionOn(question, id);
    isInformed ||= opinion.isInformed;
    return printAnswer(question, opinion, decimals);
  });
  return {
    basis: isInformed ? "lexical" : "none",
    release: null,
    answers,
    decimals,
    usage: { inputTokens: estimateInputTokens(input), outputTokens: countOutputTokens(answers) },
  };
}

/** Output tokens of an evaluation: one for each printed probability. */
function countOutputTokens(answers: Readonly<Record<string, JudgedAnswer>>): number {
  return Object.values(answers)
    .map((answer) => (answer.type === "boolean" ? 1 : Object.keys(answer.probabilities).length))
    .reduce((total, printed) => total + printed, 0);
}
