import { contentText } from "../questions/content-text.ts";
import type { BooleanInput } from "../questions/evaluation-input.ts";
import { conceptStrength, matchCriteria } from "./match-criteria.ts";
import type { Opinion } from "./opinion.ts";
import { profileCriterion, type TextProfile } from "./text-profile.ts";

const lowestYes = 0.2;
const highestYes = 0.8;
const priorLogit = -1.1;
const conceptLogit = 1.3;
const wordLogit = 0.5;

/**
 * Reads what the question asks about, to look for it in states.
 * A question about a concept the judge knows leans to no when the state shows none of it.
 */
export function judgeBoolean(question: BooleanInput): (state: TextProfile) => Opinion {
  const instructions = contentText(question.instructions);
  const yes = profileCriterion(`${instructions}, ${contentText(question.criteria.true)}`);
  const no = profileCriterion(contentText(question.criteria.false));
  if (question.criteria.true !== null && question.criteria.false !== null) {
    const match = matchCriteria([yes, no]);
    return (state) => {
      const [forYes = 0, forNo = 0] = match(state);
      return cappedOpinion(forYes - forNo, forYes !== forNo);
    };
  }
  return (state) => {
    const evidence = evidenceFor(state, yes) - evidenceFor(state, no);
    const knowsConcept = yes.concepts.size > 0 && state.words.size > 0;
    const prior = knowsConcept ? priorLogit : 0;
    return cappedOpinion(prior + evidence, knowsConcept || evidence !== 0);
  };
}

function evidenceFor(state: TextProfile, criterion: TextProfile): number {
  const strengths = [...criterion.concepts.keys()].map((name) => conceptStrength(state, name));
  const sharedWords = [...criterion.words].filter((word) => state.words.has(word)).length;
  return conceptLogit * Math.max(0, ...strengths) + wordLogit * Math.log2(1 + sharedWords);
}

function cappedOpinion(logit: number, isInformed: boolean): Opinion {
  const yes = 1 / (1 + Math.exp(-logit));
  return {
    probabilities: [isInformed ? Math.min(highestYes, Math.max(lowestYes, yes)) : 0.5],
    isInformed,
  };
}
