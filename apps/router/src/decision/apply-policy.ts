import { type Tier, tierNames } from "../tier-question.ts";
import type { Cause } from "./decision.ts";
import type { RoutingPolicy } from "./routing-policy.ts";

/** The tier to use for a choice: the chosen one, or the next one up where confidence is too low. */
export function applyPolicy(
  chosen: Tier,
  confidence: number | null,
  { minConfidence }: Pick<RoutingPolicy, "minConfidence">,
): { readonly tierUsed: Tier; readonly cause: Cause } {
  const isSure = minConfidence === null || confidence === null || confidence >= minConfidence;
  const next = tierNames[tierNames.indexOf(chosen) + 1];
  if (isSure || next === undefined) return { tierUsed: chosen, cause: "choice" };
  return { tierUsed: next, cause: "low-confidence" };
}
