import { isDeepStrictEqual } from "node:util";
import { applyPolicy } from "../decision/decide.ts";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import { type LabelledPrompt, toTierPoints } from "../labels/tier-points.ts";
import type { RouterOptions } from "../router-options.ts";
import type { DecidedPrompt } from "./decided-prompts.ts";

/** A labelled prompt with its decision. */
export interface JudgedPrompt extends LabelledPrompt {
  readonly decision: DecidedPrompt["decision"];
  /** The tier that the policy uses for the decision. */
  readonly used: Tier;
}

/** Applies the policy. If the used tier and the right one have the same model, the used one is right. */
export function judgePrompts(
  prompts: readonly DecidedPrompt[],
  { policy, tierModels }: Pick<RouterOptions, "policy" | "tierModels">,
  costsOf: Parameters<typeof toTierPoints>[2],
): JudgedPrompt[] {
  const labelled = toTierPoints(prompts, tierModels, costsOf);
  return prompts.flatMap(({ decision }, at) => {
    const label = labelled[at];
    if (label === undefined) return [];
    const { tierUsed: used } = applyPolicy(decision.tierChosen, decision, policy);
    const { tiers, rightTier: right } = label;
    const rightTier = isDeepStrictEqual(tiers[used], tiers[right]) ? used : right;
    return Object.assign(label, { decision, used, rightTier });
  });
}

/** Returns how hard a prompt is by its decision: the mean tier of the shares. */
export function hardness({ probabilities }: JudgedPrompt["decision"]): number {
  const mean = tierNames.reduce((sum, tier, index) => sum + index * probabilities[tier], 0);
  return Math.round(1e6 * mean) / 1e6; // equal means of printed values differ in their last bits
}
