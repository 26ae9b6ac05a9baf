import type { Conversation } from "../conversation/conversation.ts";
import type { ReplyFailure } from "../reply/generate-reply.ts";
import { TOO_LONG } from "../reply/reply-failure.ts";
import type { ReplyPlan, Target } from "../reply/upstream.ts";
import { type Asked, createCapabilityCheck } from "./capabilities.ts";
import { createCooldowns } from "./cooldowns.ts";
import { toAskedModel, keepAllowed, type Routing } from "./decide.ts";
import type { Decision } from "./decision.ts";
import { type Allowance, allowedTiers, findPlan } from "./replies.ts";
import type { Tier } from "./tier-question.ts";

/** Orders the models of a reply by their capabilities and their latest failures. */
export class Plans {
  readonly #routing: Routing;
  readonly #cooldowns = createCooldowns();
  readonly #capabilityCheck;

  constructor(routing: Routing) {
    this.#routing = routing;
    this.#capabilityCheck = createCapabilityCheck(routing.services.replies.capabilities);
  }

  /** Returns the models to ask in turn, and the decision for the first one. */
  planFor(
    decision: Decision,
    askedRequest: Asked,
    allowance: Allowance | null,
  ): { readonly plan: ReplyPlan; readonly plannedDecision: Decision } {
    const ownPlan = findPlan(decision, this.#routing.services.replies.current, allowance);
    const isOnly = ownPlan.targets.length === 1; // asked in any case
    const { plan, cause } = isOnly
      ? { plan: ownPlan, cause: null }
      : this.#order(ownPlan, askedRequest);
    const askedModel = toAskedModel(plan.targets[0], this.#routing);
    const plannedDecision = { ...decision, ...askedModel, cause: cause ?? decision.cause };
    return { plan: this.#capabilityCheck.withCapabilities(plan), plannedDecision };
  }

  #order(ownPlan: ReplyPlan, askedRequest: Asked) {
    const capablePlan = this.#capabilityCheck.order(ownPlan, askedRequest);
    const { plan, cause } = this.#cooldowns.order(capablePlan);
    const isKept = ownPlan.targets[0] === capablePlan.targets[0];
    return { plan, cause: isKept ? cause : ("capability" as const) };
  }

  /** Moves a decision to the next allowed tier with a model that can take the request, if there is one. */
  keepCapable(decision: Decision, askedRequest: Asked, allowance: Allowance | null): Decision {
    const { current } = this.#routing.services.replies;
    const isCapable = (tierUsed: Tier) => {
      const [{ model, upstream }] = current.tiers[tierUsed].targets;
      const plan = findPlan({ tierUsed, model, upstream: upstream.name }, current, allowance);
      return plan.targets.some((target) => this.#capabilityCheck.isCapable(target, askedRequest));
    };
    if (decision.tierUsed === null || isCapable(decision.tierUsed)) return decision;
    const tiersAllowed = allowedTiers(allowance ?? { tiers: null, models: null }, current);
    const capableTiers = tiersAllowed.filter(isCapable);
    if (capableTiers.length === 0) return decision;
    const capableAllowance = { tiers: capableTiers, models: null, cause: "capability" } as const;
    return keepAllowed(decision, capableAllowance, this.#routing);
  }

  /** Notes how a call of a model ended; null is a reply. */
  note(target: Target, failure: ReplyFailure | null, conversation: Conversation): void {
    this.#cooldowns.note(target, failure);
    if (failure?.httpError?.code === TOO_LONG) this.#capabilityCheck.learn(target, conversation);
  }
}
