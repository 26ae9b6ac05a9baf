import { mapRecord } from "../json.ts";
import type { Opinion } from "../judge/shares.ts";
import type { ChoiceInput, QuestionInput } from "../questions/question.ts";
import type { JudgedAnswer, JudgedChoice, JudgedScore } from "./judgement.ts";

/**
 * Returns an opinion as the service prints it: rounded, the score and the choice from unrounded
 * values.
 */
export function printAnswer(
  question: QuestionInput,
  { probabilities }: Opinion,
  decimals = printedDecimals,
): JudgedAnswer {
  const round = (value: number) => roundTo(decimals, value);
  if (question.type === "choice") return printChoice(question, probabilities, round);
  if (question.type === "score") return printScore(probabilities, round);
  return { type: "boolean", probability: round(probabilities[0] ?? 0.5) };
}

/** Returns a printed answer with fewer decimal places. */
export function printAgain(answer: JudgedAnswer, decimals: number): JudgedAnswer {
  const round = (value: number) => roundTo(decimals, value);
  if (answer.type === "boolean") return { ...answer, probability: round(answer.probability) };
  const confidence = answer.confidence === null ? null : round(answer.confidence);
  const printed = { ...answer, probabilities: mapRecord(answer.probabilities, round), confidence };
  return printed.type === "score" ? { ...printed, score: round(printed.score) } : printed;
}

type Round = (value: number) => number;

function printChoice(
  { criteria }: ChoiceInput,
  probabilities: readonly number[],
  round: Round,
): JudgedChoice {
  const options = Object.keys(criteria);
  return {
    type: "choice",
    choice: pickOption(options, probabilities),
    probabilities: printDistribution(options, probabilities, round),
    confidence: round(spreadConfidence(probabilities)),
  };
}

function printScore(probabilities: readonly number[], round: Round): JudgedScore {
  const mean = probabilities.reduce((total, share, index) => total + share * index, 0);
  return {
    type: "score",
    score: round(mean),
    probabilities: printDistribution(Object.keys(probabilities), probabilities, round),
    confidence: round(spreadConfidence(probabilities)),
  };
}

function printDistribution(
  names: readonly string[],
  probabilities: readonly number[],
  round: Round,
) {
  return Object.fromEntries(names.map((name, index) => [name, round(probabilities[index] ?? 0)]));
}

const wayOutPattern = /^(?:other|none|neither|unknown|unclear|unsure)(?:$|[^\p{L}])/iu;

/**
 * Returns the likeliest option; among equals one that is a way out, such as `other` (contract
 * section 1.6),
 * else the first.
 */
export function pickOption(options: readonly string[], probabilities: readonly number[]): string {
  const highest = Math.max(...probabilities);
  const likeliest = options.filter((_option, index) => probabilities[index] === highest);
  return likeliest.find((option) => wayOutPattern.test(option)) ?? likeliest[0] ?? "";
}

/** Decimal places of every printed probability and score of the service (contract section 2.4, rule 1). */
export const printedDecimals = 2;

/** A number rounded to so many decimal places, halves up. */
function roundTo(decimals: number, value: number): number {
  const scale = 10 ** decimals;
  return Math.round(value * scale) / scale;
}

/**
 * Returns how far a distribution is from flat, 0..1: one minus its entropy over the highest
 * possible.
 * The emulator's own measure; the vendor's formula is not published (contract section 2.5).
 */
function spreadConfidence(probabilities: readonly number[]): number {
  if (probabilities.length === 1) return 1;
  const entropy = probabilities
    .filter((probability) => probability > 0)
    .reduce((total, probability) => total - probability * Math.log(probability), 0);
  return Math.min(1, Math.max(0, 1 - entropy / Math.log(probabilities.length)));
}
