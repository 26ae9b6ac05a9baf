import type { JudgedAnswer } from "./judgement.ts";

/** Output tokens of an evaluation: one for each printed probability. */
export function countOutputTokens(answers: Readonly<Record<string, JudgedAnswer>>): number {
  return Object.values(answers)
    .map((answer) => (answer.type === "boolean" ? 1 : Object.keys(answer.probabilities).length))
    .reduce((total, printed) => total + printed, 0);
}
