import type { ReplyPlan, Target } from "../reply/upstream.ts";
import type { ModelPrice } from "../reply/usage.ts";
import type { Decision } from "./decision.ts";
import { cheapestTier, type Tier } from "./tier-question.ts";

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

/** Returns the plan of a decision. Its model goes first: an earlier one of the tier failed in this turn. */
export function planOf({ tierUsed, model, upstream }: Decision, replies: Replies): ReplyPlan {
  const named = tierUsed === null ? replies.planOfModel(model) : null;
  const plan = named ?? replies.tiers[tierUsed ?? cheapestTier]; // a named model may be gone by now
  const isAsked = (target: Target) => target.model === model && target.upstream.name === upstream;
  const [first, ...rest] = plan.targets.slice(Math.max(0, plan.targets.findIndex(isAsked)));
  return first === undefined ? plan : { ...plan, targets: [first, ...rest] };
}

/** Returns the price of a target: its own, or the gateway's; null if it is unknown. */
export function priceOf(
  { upstream, model, price }: Target,
  prices: ReadonlyMap<string, ModelPrice>,
): ModelPrice | null {
  return price ?? (upstream.type === "gateway" ? (prices.get(model) ?? null) : null);
}
