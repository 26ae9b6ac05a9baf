import { contentText } from "../questions/content-text.ts";
import type { ScoreInput } from "../questions/evaluation-input.ts";
import { matchCriteria } from "./match-criteria.ts";
import { opinionFromScores } from "./opinion-from-scores.ts";
import type { Opinion } from "./opinion.ts";
import { profileCriterion, type TextProfile } from "./text-profile.ts";

const neighbourShare = 0.15;

/** Reads every level, to compare states with them; each level then shares with its neighbours. */
export function judgeScore({ criteria }: ScoreInput): (state: TextProfile) => Opinion {
  const match = matchCriteria(criteria.map((level) => profileCriterion(contentText(level))));
  return (state) => {
    const opinion = opinionFromScores(match(state));
    return opinion.isInformed
      ? { ...opinion, probabilities: shareWithNeighbours(opinion.probabilities) }
      : opinion;
  };
}

function shareWithNeighbours(probabilities: readonly number[]): number[] {
  const last = probabilities.length - 1;
  const shared = probabilities.map(() => 0);
  for (const [index, probability] of probabilities.entries()) {
    // An end level keeps the share it has no neighbour for, so the sum stays 1.
    for (const neighbour of [Math.max(0, index - 1), Math.min(last, index + 1)]) {
      shared[neighbour] = (shared[neighbour] ?? 0) + neighbourShare * probability;
    }
    shared[index] = (shared[index] ?? 0) + (1 - 2 * neighbourShare) * probability;
  }
  return shared;
}
