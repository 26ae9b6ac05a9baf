import type { Opinion } from "../judge/opinion.ts";
import type { ChoiceInput, QuestionInput } from "../questions/evaluation-input.ts";
import type { JudgedAnswer, JudgedChoice, JudgedScore } from "./judgement.ts";
import { pickOption } from "./pick-option.ts";
import { roundToPrinted } from "./round-to-printed.ts";
import { spreadConfidence } from "./spread-confidence.ts";

/** An opinion as the service prints it: rounded, the score and the choice from unrounded values. */
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
