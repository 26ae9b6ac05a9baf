import type { Opinion } from "./opinion.ts";
import { softmax } from "./softmax.ts";
import { temper } from "./temper.ts";

/** An opinion from how strongly the state speaks for each criterion; uniform when all are equal. */
export function opinionFromScores(scores: readonly number[]): Opinion {
  const isInformed = scores.some((score) => score !== scores[0]);
  return {
    probabilities: isInformed ? temper(softmax(scores)) : scores.map(() => 1 / scores.length),
    isInformed,
  };
}
