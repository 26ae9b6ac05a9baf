import type { Replies } from "../decision/replies.ts";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import type { ReplyPlan, Target, Upstream } from "../reply/upstream.ts";
import type { RouterOptions } from "../router-options.ts";

type ReplySettings = Pick<RouterOptions, "tierModels" | "policy" | "waiting">;

/** Returns who replies; the upstream is the one of every model that the configuration does not name. */
export function configureReplies(
  upstream: Upstream,
  { tierModels, policy, waiting }: ReplySettings,
): Replies {
  const target = (model: string): Target => ({ upstream, model, price: null });
  const planOf = (model: string, fallbacks: readonly string[] = []): ReplyPlan => {
    const later = fallbacks.filter((each) => each !== model);
    return { targets: [target(model), ...later.map(target)], maxRetries: 2, ...waiting };
  };
  const plans = tierNames.map((tier) => [tier, planOf(tierModels[tier], policy.fallbackModels)]);
  const tiers = Object.fromEntries(plans) as Record<Tier, ReplyPlan>;
  const configured = new Set(Object.values(tierModels).concat(policy.fallbackModels));
  return {
    tiers,
    aliases: new Map(),
    isConfigured: (model) => configured.has(model),
    planOfModel: (model) =>
      upstream.type !== "gateway" || model.includes("/") ? planOf(model) : null,
  };
}
