import type { Replies } from "../decision/replies.ts";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import { connectUpstream, type ReplyPlan, type Target, type Upstream } from "../reply/upstream.ts";
import type { RouterOptions } from "../router-options.ts";

type ReplySettings = Pick<
  RouterOptions,
  "aliases" | "config" | "policy" | "tierModels" | "waiting"
>;

/** Returns who replies; models and tiers that the file does not name are of the given upstream. */
export function configureReplies(
  upstream: Upstream,
  { aliases, config, policy, tierModels, waiting }: ReplySettings,
): Replies {
  const toTarget = (model: string): Target => ({ upstream, model, price: null });
  const planOf = (model: string, fallbacks: readonly string[] = []): ReplyPlan => {
    const later = fallbacks.filter((each) => each !== model);
    return { targets: [toTarget(model), ...later.map(toTarget)], maxRetries: 2, ...waiting };
  };
  const upstreams = new Map(
    [...(config?.upstreams ?? [])].map(([name, options]) => [
      name,
      connectUpstream({ name, ...options }),
    ]),
  );
  const plans = tierNames.map((tier): [Tier, ReplyPlan] => {
    const given = config?.tiers[tier];
    if (given === undefined) return [tier, planOf(tierModels[tier], policy.fallbackModels)];
    const [first, ...rest] = given.targets.map((target): Target => {
      return { ...target, upstream: upstreams.get(target.upstream) ?? upstream }; // the schema knows each
    });
    const targets = [first ?? toTarget(tierModels[tier]), ...rest] as const;
    return [tier, { ...waiting, ...given, targets }];
  });
  const configured = new Map(
    plans.flatMap(([, plan]) => plan.targets.map((target) => [target.model, { plan, target }])),
  );
  return {
    tiers: Object.fromEntries(plans) as Record<Tier, ReplyPlan>,
    aliases,
    isConfigured: (model) => configured.has(model),
    planOfModel(model) {
      const known = configured.get(model);
      if (known !== undefined) return { ...known.plan, targets: [known.target] };
      return upstream.type !== "gateway" || model.includes("/") ? planOf(model) : null;
    },
  };
}
