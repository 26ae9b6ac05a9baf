import { mapRecord } from "../json.ts";
import { type Opinion, profileState, type TextProfile } from "../judge/evidence.ts";
import { remember } from "../judge/words.ts";
import { type Content, contentText } from "../questions/content.ts";
import {
  type EvaluationInput,
  estimateInputTokens,
  questionText,
} from "../questions/evaluation-input.ts";
import { type JudgedAnswer, kindOf, type QuestionInput } from "../questions/kinds/kinds.ts";
import type { AnswerSource, Judgement } from "./judgement.ts";

/** How answers are printed. */
export interface Printing {
  /** Decimal places, at most. */
  readonly decimals: number;
  /** Whether answers carry a confidence. */
  readonly confidence: boolean;
}

/** Answers a request from the first source that can, else from the lexical judge. */
export function answerRequest(
  input: EvaluationInput,
  sources: readonly AnswerSource[],
  { decimals, confidence }: Printing,
): Judgement {
  const judgement = answerFrom(input, sources, decimals);
  if (confidence) return judgement;
  const answers = mapRecord(judgement.answers, (answer) => ({ ...answer, confidence: null }));
  return { ...judgement, answers };
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
  return judgeInput(input, () => null, decimals);
}

/**
 * Answers every question with a given opinion or, if it is null, with the lexical judge's. The
 * basis is `none` if no opinion is informed.
 */
export function judgeInput(
  input: EvaluationInput,
  opinionOn: (id: string) => Opinion | null,
  decimals: number,
): Judgement {
  const judge = lexicalJudge(input.state);
  let isInformed = false;
  const answers = mapRecord(input.questions, (question, id) => {
    const opinion = opinionOn(id) ?? judge(question);
    isInformed ||= opinion.isInformed;
    return printAnswer(question, opinion, decimals);
  });
  // One output token for each printed probability.
  const printed = Object.values(answers).map((answer) => Object.keys(answer.probabilities).length);
  const outputTokens = printed.reduce((total, count) => total + count, 0);
  return {
    basis: isInformed ? "lexical" : "none",
    release: null,
    answers,
    decimals,
    usage: { inputTokens: estimateInputTokens(input), outputTokens },
  };
}

// The same questions come with request after request.
const read = remember((question: QuestionInput) => kindOf(question).judge(question), {
  keyOf: (question) => `${question.type} ${questionText(question)}`,
  capacity: 1000,
});

/** Judges questions about one state by their shared words; sees what the model sees (contract section 1.5). */
function lexicalJudge(state: Content): (question: QuestionInput) => Opinion {
  let profile: TextProfile | null = null;
  return (question) => read(question)((profile ??= profileState(contentText(state))));
}

/** Prints an opinion as the service does: rounded, the score and the choice from unrounded values. */
function printAnswer(
  question: QuestionInput,
  { probabilities }: Opinion,
  decimals: number,
): JudgedAnswer {
  const kind = kindOf(question);
  const names = kind.namesOf(question);
  const answer = {
    type: question.type,
    value: kind.valueOf(names, probabilities),
    probabilities: Object.fromEntries(names.map((name, at) => [name, probabilities[at] ?? 0])),
    confidence: kind.isDistribution ? spreadConfidence(probabilities) : null,
  };
  return roundAnswer(answer, decimals);
}

/** Decimal places of the service's probabilities and scores (contract section 2.4, rule 1). */
export const printedDecimals = 2;

/** Rounds all numbers of an answer, halves up. */
export function roundAnswer(answer: JudgedAnswer, decimals: number): JudgedAnswer {
  const scale = 10 ** decimals;
  const round = (value: number) => Math.round(value * scale) / scale;
  const { type, value, probabilities, confidence } = answer;
  return {
    type,
    value: typeof value === "number" ? round(value) : value,
    probabilities: mapRecord(probabilities, round),
    confidence: confidence === null ? null : round(confidence),
  };
}

/**
 * Returns how far a distribution is from flat, 0..1: one minus its entropy over the highest
 * possible. The emulator's own measure; the vendor's is not published (contract section 2.5).
 */
function spreadConfidence(probabilities: readonly number[]): number {
  if (probabilities.length === 1) return 1;
  const entropy = probabilities
    .filter((probability) => probability > 0)
    .reduce((total, probability) => total - probability * Math.log(probability), 0);
  return Math.min(1, Math.max(0, 1 - entropy / Math.log(probabilities.length)));
}
