import type { Answer, Question, Questions } from "evaluator-client";

/** Gives the same valid answer to each question every time; the sums are exactly 1. */
export function sampleAnswers(questions: Questions): Record<string, Answer> {
  const entries = Object.entries(questions);
  return Object.fromEntries(entries.map(([id, question]) => [id, sampleAnswer(question)]));
}

function sampleAnswer(question: Question): Answer {
  const { type } = question;
  if (type === "boolean") return { type, probability: 0.31 };
  const probabilities = falling(Object.keys(question.criteria));
  if (type === "choice")
    return { type, choice: Object.keys(probabilities)[0] ?? "", probabilities };
  return { type, score: weightedMean(Object.values(probabilities)), probabilities };
}

const hundredths = [60, 20, 10, 5, 3, 2];

/** The first gets most, the sixth 0.02, and everyone after that prints 0; the sum is 1. */
function falling(names: readonly string[]): Record<string, number> {
  const given = hundredths.slice(0, names.length);
  const rest = 100 - given.reduce((sum, each) => sum + each, 0);
  const [first = 0, ...others] = given;
  const values = [first + rest, ...others];
  return Object.fromEntries(names.map((name, index) => [name, (values[index] ?? 0) / 100]));
}

function weightedMean(probabilities: readonly number[]): number {
  const mean = probabilities.reduce((sum, each, index) => sum + index * each, 0);
  return Number(mean.toFixed(2));
}
