import type { Opinion } from "../judge/shares.ts";
import type { ChoiceInput, QuestionInput } from "../questions/question.ts";
import type { JudgedAnswer, JudgedChoice, JudgedScore } from "./judgement.ts";

/**
 * Returns an opinion as the service prints it: rounded, the score and the choice from unrounded
 * values.
 */
export function printAnswer(question: QuestionInput, { probabilities }: Opinion): JudgedAnswer {
  if (question.type === "choice") return printChoice(question, probabilities);
  if (question.type === "score") return printScore(probabilities);
  return { type: "boolean", probability: roundToPrinted(probabilities[0] ?? 0.5) };
}

function printChoice({ criteria }: ChoiceInput, probabilities: readonly number[]): JudgedChoice {
  const options = Object.keys(criteria);
  return {
    type: "choice",
    choice: pickOption(options, probabilities),
    probabilities: printDistribution(options, probabilities),
    confidence: roundToPrinted(spreadConfidence(probabilities)),
  };
}

function printScore(probabilities: readonly number[]): JudgedScore {
  const mean = probabilities.reduce((total, share, index) => total + share * index, 0);
  return {
    type: "score",
    score: roundToPrinted(mean),
    probabilities: printDistribution(Object.keys(probabilities), probabilities),
    confidence: roundToPrinted(spreadConfidence(probabilities)),
  };
}

function printDistribution(names: readonly string[], probabilities: readonly number[]) {
  return Object.fromEntries(
    names.map((name, index) => [name, roundToPrinted(probabilities[index] ?? 0)]),
  );
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

/** Decimal places of every printed probability and score (contract section 2.4, rule 1). */
export const printedDecimals = 2;

/** A number rounded to the printed decimals, halves up. */
function roundToPrinted(value: number): number {
  const scale = 10 ** printedDecimals;
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
