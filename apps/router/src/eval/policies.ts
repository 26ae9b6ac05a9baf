import { applyPolicy } from "../decision/decide.ts";
import type { ChoicePolicy } from "../decision/decision.ts";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import type { EvalPrompt, KnownDecision } from "./read-prompts.ts";

/** A prompt with its decision, and the quality and cost of each tier. */
export interface JudgedPrompt {
  readonly decision: KnownDecision;
  /** The lowest tier with the best quality. */
  readonly rightTier: Tier;
  /** Quality of each tier's model, 0..1. */
  readonly quality: readonly number[];
  readonly cost: readonly number[];
  /** Characters of the conversation; null if the text is unknown. */
  readonly length: number | null;
  /** Whether an earlier prompt has the same text. */
  readonly isRepeat: boolean;
}

interface JudgeOptions {
  readonly known: readonly KnownDecision[];
  readonly tierModels: readonly string[];
  /** Returns the costs of the tiers for a prompt's length, if the file has no costs. */
  readonly costOf: (characters: number) => readonly number[];
}

/** Judges every tier for each prompt. */
export function judgePrompts(
  prompts: readonly EvalPrompt[],
  { known, tierModels, costOf }: JudgeOptions,
): JudgedPrompt[] {
  const ranked = rankModels(prompts);
  const seen = new Set<string>();
  return prompts.map((prompt, at) => {
    const { messages, scores, costs } = prompt;
    const text = JSON.stringify(messages);
    const isRepeat = messages.length > 0 && seen.has(text);
    seen.add(text);
    const characters = messages.reduce((sum, { content }) => sum + content.length, 0);
    const length = messages.length === 0 ? null : characters;
    const decided = { decision: known[at] as KnownDecision, isRepeat, length };
    if (scores === null) {
      const rightTier = prompt.tier ?? "frontier";
      const right = tierNames.indexOf(rightTier);
      const quality = tierNames.map((_, tier) => (tier >= right ? 1 : 0));
      return { ...decided, rightTier, quality, cost: costOf(characters) };
    }
    const scored = ranked.filter((model) => Object.hasOwn(scores, model));
    const models = modelsOfTiers(scored, tierModels);
    const quality = models.map((model) => scores[model] ?? 0);
    const best = quality.indexOf(Math.max(...quality));
    const rightTier = prompt.tier ?? tierNames[best] ?? "frontier";
    const cost = costs === null ? costOf(characters) : models.map((model) => costs[model] ?? 0);
    return { ...decided, rightTier, quality, cost };
  });
}

/**
 * Orders all scored models by their mean cost; without costs, by their first use. There is one order
 * for the whole file: a prompt with a higher cost at the cheaper model must not swap the two.
 */
function rankModels(prompts: readonly EvalPrompt[]): string[] {
  const scored = prompts.flatMap(({ scores, costs }) =>
    Object.keys(scores ?? {}).map((model) => ({ model, cost: costs?.[model] ?? 0 })),
  );
  const means = [...Map.groupBy(scored, ({ model }) => model)].map(([model, all]) => {
    return { model, mean: all.reduce((sum, { cost }) => sum + cost, 0) / all.length };
  });
  return means.toSorted((one, other) => one.mean - other.mean).map(({ model }) => model);
}

/** The tiers' own names or models if all are scored, else the scored models spread over the tiers. */
function modelsOfTiers(scored: readonly string[], tierModels: readonly string[]): string[] {
  const own = tierNames.map((tier, at) =>
    [tier, tierModels[at] ?? tier].find((name) => scored.includes(name)),
  );
  if (own.every((name) => name !== undefined)) return own;
  const step = (scored.length - 1) / (tierNames.length - 1);
  return tierNames.map((_, tier) => scored[Math.round(tier * step)] ?? "");
}

/** Returns the number of the tier that a policy uses for a decision. */
export function tierOf(
  { choice, probabilities, confidence }: KnownDecision,
  policy: ChoicePolicy,
): number {
  return tierNames.indexOf(applyPolicy(choice, { probabilities, confidence }, policy).tierUsed);
}

/** Returns how hard a prompt is by its decision: the mean tier of the shares. */
export function hardness({ probabilities }: KnownDecision): number {
  const mean = tierNames.reduce((sum, tier, index) => sum + index * probabilities[tier], 0);
  return Math.round(1e6 * mean) / 1e6; // equal means of printed values differ in their last bits
}
