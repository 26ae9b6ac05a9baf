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
  /** Whether an earlier prompt of the file has the same text. */
  readonly isRepeat: boolean;
}

/** What a tier costs where the prompts do not say. */
export interface TierCosts {
  /** Costs for a prompt of so many characters, from the cheapest tier to the dearest. */
  readonly of: (characters: number) => readonly number[];
  /** What they are, in words. */
  readonly basis: string;
}

const last = tierNames.length - 1;

/** What a prompt is judged with. */
interface JudgeOptions extends Pick<JudgedPrompt, "decision" | "isRepeat"> {
  /** The text model of each tier. */
  readonly tierModels: readonly string[];
  readonly costs: TierCosts;
  /** Of {@link rankModels}. */
  readonly ranked: readonly string[];
}

/** Returns a prompt whose tiers can be compared. */
export function judge(
  prompt: EvalPrompt,
  { decision, isRepeat, tierModels, costs, ranked }: JudgeOptions,
): JudgedPrompt {
  const characters = prompt.messages.reduce((sum, { content }) => sum + content.length, 0);
  const length = prompt.messages.length === 0 ? null : characters;
  const known = { decision, isRepeat, length };
  if (prompt.scores === null) {
    const right = tierNames.indexOf(prompt.tier ?? "frontier");
    const quality = tierNames.map((_, tier) => (tier >= right ? 1 : 0));
    const rightTier = tierNames[right] ?? "frontier";
    return { ...known, rightTier, quality, cost: costs.of(characters) };
  }
  const { scores, costs: own } = prompt;
  const scored = ranked.filter((model) => Object.hasOwn(scores, model));
  const models = modelsOfTiers(scored, tierModels);
  const quality = models.map((model) => scores[model] ?? 0);
  const best = quality.indexOf(Math.max(...quality));
  const rightTier = prompt.tier ?? tierNames[best] ?? "frontier";
  const cost = own === null ? costs.of(characters) : models.map((model) => own[model] ?? 0);
  return { ...known, rightTier, quality, cost };
}

/**
 * Returns all scored models from the cheapest to the dearest by their mean costs; without costs, in
 * the order in which they are first named. One order for the whole file: a prompt that happens to
 * cost more at the cheaper model must not swap the two.
 */
export function rankModels(prompts: readonly EvalPrompt[]): string[] {
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
  return tierNames.map((_, tier) => scored[Math.round((tier * (scored.length - 1)) / last)] ?? "");
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
  const mean = tierNames.reduce((sum, tier, index) => sum + index * probabilities[tier], 0);
  return Math.round(1e6 * mean) / 1e6; // equal means of printed values differ in their last bits
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
