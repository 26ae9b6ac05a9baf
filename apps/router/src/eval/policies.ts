import type { ChoicePolicy } from "../decision/decision.ts";
import { applyPolicy } from "../decision/decide.ts";
import { type Tier, tierNames } from "../tier-question.ts";
import type { EvalPrompt, KnownDecision } from "./read-prompts.ts";

/** One prompt with its decision, and what each tier would give and cost for it. */
export interface JudgedPrompt {
  readonly decision: KnownDecision;
  /** The least tier that is as good as any. */
  readonly rightTier: Tier;
  /** How well each tier's model answers, 0..1. */
  readonly quality: readonly number[];
  /** What each tier's model costs. */
  readonly cost: readonly number[];
  /** Characters of the conversation; null where the text is not known. */
  readonly length: number | null;
}

/** What a tier costs where the prompts do not say. */
export interface TierCosts {
  /** Costs for a prompt of so many characters, from the cheapest tier to the dearest. */
  readonly of: (characters: number) => readonly number[];
  /** What they are, in words. */
  readonly basis: string;
}

const last = tierNames.length - 1;

/** Returns prompts whose tiers can be compared. */
export function judge(
  prompt: EvalPrompt,
  {
    decision,
    tierModels,
    costs,
  }: { decision: KnownDecision; tierModels: readonly string[]; costs: TierCosts },
): JudgedPrompt {
  const characters = prompt.messages.reduce((sum, { content }) => sum + content.length, 0);
  const length = prompt.messages.length === 0 ? null : characters;
  if (prompt.scores === null) {
    const right = tierNames.indexOf(prompt.tier ?? "frontier");
    const quality = tierNames.map((_, tier) => (tier >= right ? 1 : 0));
    const rightTier = tierNames[right] ?? "frontier";
    return { decision, rightTier, quality, cost: costs.of(characters), length };
  }
  const models = modelsOfTiers(prompt.scores, prompt.costs, tierModels);
  const quality = models.map((model) => prompt.scores?.[model] ?? 0);
  const best = quality.indexOf(Math.max(...quality));
  const known = prompt.costs;
  const cost = known === null ? costs.of(characters) : models.map((model) => known[model] ?? 0);
  return {
    decision,
    rightTier: prompt.tier ?? tierNames[best] ?? "frontier",
    quality,
    cost,
    length,
  };
}

/**
 * The scored model of each tier: the tier's own name or model where they are scored, else the scored
 * models from the cheapest to the dearest, spread over the tiers.
 */
function modelsOfTiers(
  scores: Readonly<Record<string, number>>,
  costs: Readonly<Record<string, number>> | null,
  tierModels: readonly string[],
): string[] {
  const names = Object.keys(scores);
  const own = tierNames.map((tier, at) =>
    [tier, tierModels[at] ?? tier].find((name) => names.includes(name)),
  );
  if (own.every((name) => name !== undefined)) return own;
  const value = (name: string) => costs?.[name] ?? names.indexOf(name);
  const ordered = names.toSorted((one, other) => value(one) - value(other));
  return tierNames.map((_, tier) => {
    return ordered[Math.round((tier * (ordered.length - 1)) / last)] ?? "";
  });
}

/** Returns the tier that is used for a decision under a policy, by its number. */
export function tierOf(
  { choice, probabilities, confidence }: KnownDecision,
  policy: ChoicePolicy,
): number {
  return tierNames.indexOf(applyPolicy(choice, { probabilities, confidence }, policy).tierUsed);
}

/** Returns how hard a decision takes a prompt to be: the mean tier of its shares. */
export function hardness({ probabilities }: KnownDecision): number {
  return tierNames.reduce((sum, tier, index) => sum + index * probabilities[tier], 0);
}

/** Returns the tiers by length: as many of each as given, the longest prompts the highest. */
export function tiersByLength(prompts: readonly JudgedPrompt[], used: readonly number[]): number[] {
  const order = [...prompts.keys()].toSorted(
    (one, other) => (prompts[one]?.length ?? 0) - (prompts[other]?.length ?? 0),
  );
  const sorted = [...used].toSorted((one, other) => one - other);
  const tiers = prompts.map(() => 0);
  for (const [rank, index] of order.entries()) tiers[index] = sorted[rank] ?? 0;
  return tiers;
}
