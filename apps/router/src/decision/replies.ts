import type { ReplyPlan, Target } from "../reply/upstream.ts";
import type { ModelPrice } from "../reply/usage.ts";
import type { Decision } from "./decision.ts";
import { cheapestTier, type Tier, tierNames } from "./tier-question.ts";

/** Who replies for each tier and for each name of a model, as configured. */
export interface Replies {
  readonly tiers: Readonly<Record<Tier, ReplyPlan>>;
  /** Further names, each with its meaning: `auto`, a tier or a model. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Whether a tier or a fallback uses a model. */
  readonly isConfigured: (model: string) => boolean;
  /** Returns the plan of a model that a client names; null if no service has it. */
  readonly planOfModel: (model: string) => ReplyPlan | null;
}

/** The tiers and models that a client may use; null for all. */
export interface Allowance {
  readonly tiers: readonly Tier[] | null;
  readonly models: readonly string[] | null;
  /** Why it allows less than the client's key. */
  readonly cause?: "budget" | "capability";
}

const toModel = (tier: Tier, replies: Replies): string => replies.tiers[tier].targets[0].model;

/** Returns the allowed tiers, the cheapest first. Models alone allow the tiers that ask them. */
export function allowedTiers({ tiers, models }: Allowance, replies: Replies): readonly Tier[] {
  const isAllowed = (tier: Tier) => models?.includes(toModel(tier, replies)) ?? true;
  return tierNames.filter((tier) => tiers?.includes(tier) ?? isAllowed(tier));
}

/** A tier, or a model of no tier. */
export type Named = { readonly tier: Tier } | { readonly target: Target };

/** Whether a client may name a tier or a model. Tiers alone allow their models. */
export function mayName(namedModel: Named, allowance: Allowance | null, replies: Replies): boolean {
  if (allowance === null) return true;
  const tiers = allowedTiers(allowance, replies);
  if ("tier" in namedModel) return tiers.includes(namedModel.tier);
  const { model } = namedModel.target;
  if (allowance.models !== null) return allowance.models.includes(model);
  return allowance.tiers === null || tiers.some((tier) => toModel(tier, replies) === model);
}

/** Returns the allowed plan of a decision. Its model goes first, as an earlier one of the tier failed in this turn; those go last. */
export function findPlan(
  { tierUsed, model, upstream }: Pick<Decision, "tierUsed" | "model" | "upstream">,
  replies: Replies,
  allowance: Allowance | null = null,
): ReplyPlan {
  const namedPlan = tierUsed === null ? replies.planOfModel(model) : null;
  const replyPlan = namedPlan ?? replies.tiers[tierUsed ?? cheapestTier]; // a named model may be gone by now
  const { targets } = replyPlan;
  if (targets.length === 1) return replyPlan;
  const isAsked = (target: Target) => target.model === model && target.upstream.name === upstream;
  const at = Math.max(0, targets.findIndex(isAsked));
  const [firstTarget = targets[0], ...rest] = [...targets.slice(at), ...targets.slice(0, at)];
  // A fallback of an allowed tier may be any model but that of another tier.
  const isOfTier = (otherTarget: Target) =>
    tierNames.some((tier) => toModel(tier, replies) === otherTarget.model);
  const isOwn = (target: Target) => allowance?.models === null && !isOfTier(target);
  const later = rest.filter((target) => isOwn(target) || mayName({ target }, allowance, replies));
  return { ...replyPlan, targets: [firstTarget, ...later] };
}

/** Returns the price of a target: its own, or the gateway's; null if it is unknown. */
export function findPrice(
  { upstream, model, price }: Target,
  prices: ReadonlyMap<string, ModelPrice | null>,
): ModelPrice | null {
  return price ?? (upstream.type === "gateway" ? (prices.get(model) ?? null) : null);
}
