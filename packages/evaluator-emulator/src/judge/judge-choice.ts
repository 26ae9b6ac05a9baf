import { contentText } from "../questions/content-text.ts";
import type { ChoiceInput } from "../questions/evaluation-input.ts";
import { matchCriteria } from "./match-criteria.ts";
import { opinionFromScores } from "./opinion-from-scores.ts";
import type { Opinion } from "./opinion.ts";
import { profileCriterion, type TextProfile } from "./text-profile.ts";

/** Reads every option's name and description, to compare states with them. */
export function judgeChoice({ criteria }: ChoiceInput): (state: TextProfile) => Opinion {
  const match = matchCriteria(
    Object.entries(criteria).map(([name, description]) =>
      profileCriterion(`${spaceOut(name)}, ${contentText(description)}`),
    ),
  );
  return (state) => opinionFromScores(match(state));
}

function spaceOut(name: string): string {
  return name.replaceAll(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|_/gu, " ");
}
