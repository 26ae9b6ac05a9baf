import { isDeepStrictEqual } from "node:util";
import { applyPolicy } from "../decision/decide.ts";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import type { RouterOptions } from "../router-options.ts";
import type { DecidedPrompt } from "./decided-prompts.ts";

/** Quality, 0..1, and cost. */
export type Point = Readonly<Record<"quality" | "cost", number>>;

/** A prompt with its decision, and the quality and cost of each tier. */
export interface JudgedPrompt {
  readonly decision: DecidedPrompt["decision"];
  /** The tier that the policy uses for the decision. */
  readonly used: Tier;
  /** The lowest tier with the best quality; the used tier if both have the same model. */
  readonly rightTier: Tier;
  readonly tiers: Readonly<Record<Tier, Point>>;
  /** Characters of the conversation; null if the text is unknown. */
  readonly length: number | null;
  /** Whether an earlier prompt has the same text. */
  readonly isRepeat: boolean;
}

/** Judges every tier for each prompt; `costsOf` are the tiers' costs, if the file has none. */
export function judgePrompts(
  prompts: readonly DecidedPrompt[],
  { policy, tierModels }: Pick<RouterOptions, "policy" | "tierModels">,
  costsOf: (messages: DecidedPrompt["messages"]) => readonly number[],
): JudgedPrompt[] {
  const ranked = rankModels(prompts);
  const seen = new Set<string>();
  return prompts.map(({ messages, tier, scores, costs, decision }) => {
    const text = JSON.stringify(messages);
    const isRepeat = messages.length > 0 && seen.has(text);
    seen.add(text);
    const scored = ranked.filter((model) => Object.hasOwn(scores ?? {}, model));
    const models = modelsOfTiers(scored, tierModels);
    const lowest = tierNames.indexOf(tier ?? "frontier");
    const quality = models.map((model, at) =>
      scores === null ? Number(at >= lowest) : (scores[model] ?? 0),
    );
    const cost = costs === null ? costsOf(messages) : models.map((model) => costs[model] ?? 0);
    const points = tierNames.map((name, at) => [name, { quality: quality[at], cost: cost[at] }]);
    const tiers = Object.fromEntries(points) as Record<Tier, Point>;
    const { tierUsed: used } = applyPolicy(decision.tierChosen, decision, policy);
    const right = tier ?? tierNames[quality.indexOf(Math.max(...quality))] ?? "frontier";
    const isSame = isDeepStrictEqual(tiers[used], tiers[right]);
    const characters = messages.reduce((sum, { content }) => sum + content.length, 0);
    const length = messages.length === 0 ? null : characters;
    return { decision, used, rightTier: isSame ? used : right, tiers, length, isRepeat };
  });
}

/**
 * Orders all scored models by their mean cost; without costs, by their first use. There is one order
 * for the whole file: a prompt with a higher cost at the cheaper model must not swap the two.
 */
function rankModels(prompts: readonly DecidedPrompt[]): string[] {
  const scored = prompts.flatMap(({ scores, costs }) =>
    Object.keys(scores ?? {}).map((model) => ({ model, cost: costs?.[model] ?? 0 })),
  );
  const means = [...Map.groupBy(scored, ({ model }) => model)].map(([model, all]) => {
    return { model, mean: all.reduce((sum, { cost }) => sum + cost, 0) / all.length };
  });
  return means.toSorted((one, other) => one.mean - other.mean).map(({ model }) => model);
}

/** The tiers' own names or models if all are scored, else the scored models spread over the tiers. */
function modelsOfTiers(
  scored: readonly string[],
  tierModels: RouterOptions["tierModels"],
): string[] {
  const own = tierNames.map((tier) =>
    [tier, tierModels[tier]].find((name) => scored.includes(name)),
  );
  if (own.every((name) => name !== undefined)) return own;
  const step = (scored.length - 1) / (tierNames.length - 1);
  return tierNames.map((_, tier) => scored[Math.round(tier * step)] ?? "");
}

/** Returns how hard a prompt is by its decision: the mean tier of the shares. */
export function hardness({ probabilities }: JudgedPrompt["decision"]): number {
  const mean = tierNames.reduce((sum, tier, index) => sum + index * probabilities[tier], 0);
  return Math.round(1e6 * mean) / 1e6; // equal means of printed values differ in their last bits
}
