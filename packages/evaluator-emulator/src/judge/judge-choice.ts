import { contentText } from "../questions/content-text.ts";
import type { ChoiceInput } from "../questions/evaluation-input.ts";
import { matchCriteria } from "./match-criteria.ts";
import { opinionFromScores } from "./opinion-from-scores.ts";
import type { Opinion } from "./opinion.ts";
import { profileCriterion, type TextProfile } from "./text-profile.ts";

/** Compares a state with every option's name and description. */
export function judgeChoice(state: TextProfile, { criteria }: ChoiceInput): Opinion {
  const options = Object.entries(criteria).map(([name, description]) =>
    profileCriterion(`${spaceOut(name)}, ${contentText(description)}`),
  );
  return opinionFromScores(matchCriteria(state, options));
}

function spaceOut(name: string): string {
  return name.replaceAll(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|_/gu, " ");
}
