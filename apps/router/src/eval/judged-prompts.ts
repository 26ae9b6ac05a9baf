import { isDeepStrictEqual } from "node:util";
import { applyPolicy } from "../decision/decide.ts";
import { tierNames } from "../decision/tier-question.ts";
import { toTierPoints } from "../labels/tier-points.ts";
import type { RouterOptions } from "../router-options.ts";
import type { DecidedPrompt } from "./decided-prompts.ts";

/** A labelled prompt with its decision, and the tier that the policy uses for it. */
export type JudgedPrompt = ReturnType<typeof judgePrompts>[number];

/** Applies the policy. If the used tier and the right one have the same model, the used one is right. */
export function judgePrompts(
  prompts: readonly DecidedPrompt[],
  { policy, tierModels }: Pick<RouterOptions, "policy" | "tierModels">,
  costsOf: Parameters<typeof toTierPoints>[2],
) {
  return toTierPoints(prompts, tierModels, costsOf).map((label, at) => {
    const { decision } = prompts[at] as DecidedPrompt;
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
