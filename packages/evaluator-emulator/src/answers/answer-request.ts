import { mapRecord } from "../json.ts";
import { type Opinion, profileText } from "../judge/evidence.ts";
import { contentText } from "../questions/content.ts";
import { type EvaluationInput, estimateInputTokens } from "../questions/evaluation-input.ts";
import { type JudgedAnswer, toKind, type QuestionInput } from "../questions/kinds/kinds.ts";
import type { Judgement } from "./judgement.ts";

interface AnswerOptions {
  /** Returns a recorded judgement, or null. */
  readonly recorded: (evaluationInput: EvaluationInput) => Judgement | null;
  /** Returns the user's opinion on each question by id, or null if no rule fits. */
  readonly ruled: (
    evaluationInput: EvaluationInput,
  ) => Readonly<Record<string, Opinion | null>> | null;
  /** Decimal places, at most. */
  readonly decimals: number;
  /** Whether an answer with fewer decimal places is none, as its sums would be too far off. @default false */
  readonly isExact?: boolean;
  /** Whether answers carry a confidence. */
  readonly confidence: boolean;
}

/** Answers a request from a recording, else by rules, and all other questions by the lexical judge. */
export function answerRequest(
  evaluationInput: EvaluationInput,
  {
    recorded: recordedAction,
    ruled: ruledAction,
    decimals,
    isExact = false,
    confidence,
  }: AnswerOptions,
): Judgement {
  const foundJudgement = recordedAction(evaluationInput);
  const isFineEnough = foundJudgement !== null && !(isExact && foundJudgement.decimals < decimals);
  const judgement = isFineEnough
    ? foundJudgement
    : judge(evaluationInput, ruledAction(evaluationInput), decimals);
  if (judgement.decimals <= decimals && confidence) return judgement;
  const judgedAnswers = mapRecord(judgement.answers, (answer) => {
    const judgedAnswer = judgement.decimals > decimals ? roundAnswer(answer, decimals) : answer;
    return confidence ? judgedAnswer : { ...judgedAnswer, confidence: null };
  });
  return { ...judgement, answers: judgedAnswers, decimals: Math.min(decimals, judgement.decimals) };
}

/** Judges by shared words (contract section 1.5); the basis is `none` if no opinion is informed. */
function judge(
  evaluationInput: EvaluationInput,
  ruledFields: Readonly<Record<string, Opinion | null>> | null,
  decimals: number,
): Judgement {
  const stateProfile = profileText(contentText(evaluationInput.state), "state");
  let isInformed = false;
  const judgedAnswers = mapRecord(evaluationInput.questions, (questionInput, questionId) => {
    const opinion =
      ruledFields?.[questionId] ?? toKind(questionInput).judge(questionInput, stateProfile);
    isInformed ||= opinion.isInformed;
    return printAnswer(questionInput, opinion, decimals);
  });
  // One output token for each printed probability.
  const printedNames = Object.values(judgedAnswers).flatMap((answer) =>
    Object.keys(answer.probabilities),
  );
  return {
    basis: ruledFields === null ? (isInformed ? "lexical" : "none") : "rule",
    release: null,
    answers: judgedAnswers,
    decimals,
    usage: { inputTokens: estimateInputTokens(evaluationInput), outputTokens: printedNames.length },
  };
}

/** Prints an opinion as the service does: rounded, the score and the choice from unrounded values. */
function printAnswer(
  questionInput: QuestionInput,
  opinion: Opinion,
  decimals: number,
): JudgedAnswer {
  const { probabilities } = opinion;
  const questionKind = toKind(questionInput);
  const optionNames = questionKind.namesOf(questionInput);
  const answer = {
    type: questionInput.type,
    value: questionKind.valueOf(optionNames, probabilities),
    probabilities: Object.fromEntries(
      optionNames.map((optionName, optionIndex) => [optionName, probabilities[optionIndex] ?? 0]),
    ),
    confidence: questionKind.confidenceOf(opinion),
  };
  return roundAnswer(answer, decimals);
}

/** Decimal places of the service's probabilities and scores (contract section 2.4, rule 1). */
export const printedDecimals = 2;

/** Rounds all numbers of an answer, halves up. */
function roundAnswer(answer: JudgedAnswer, decimals: number): JudgedAnswer {
  const decimalScale = 10 ** decimals;
  const roundNumber = (unroundedValue: number) =>
    Math.round(unroundedValue * decimalScale) / decimalScale;
  const { type, value, probabilities, confidence } = answer;
  return {
    type,
    value: typeof value === "number" ? roundNumber(value) : value,
    probabilities: mapRecord(probabilities, roundNumber),
    confidence: confidence === null ? null : roundNumber(confidence),
  };
}
