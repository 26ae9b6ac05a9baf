import {
  toAskedModel,
  decide,
  decideUnasked,
  keepAllowed,
  maybeBilled,
  type Routing,
} from "./decision/decide.ts";
import type { BlindShadow } from "./blind/blind-shadow.ts";
import type { Decision, TierState } from "./decision/decision.ts";
import type { Conversation } from "./conversation/conversation.ts";
import { createSignatureMemory } from "./conversation/signatures.ts";
import { Plans } from "./decision/plans.ts";
import { type Allowance, allowedTiers, findPlan } from "./decision/replies.ts";
import { cheapestTier, type Tier } from "./decision/tier-question.ts";
import type { CallBudget } from "./keys/call-budget.ts";
import type { RouterKey } from "./keys/router-key.ts";
import { type GeneratedReply, generateReply } from "./reply/generate-reply.ts";
import type { ReplyListener } from "./reply/reply-piece.ts";
import { type MessageRecord, toMessageRecord } from "./records/message-record.ts";
import type { ReplyPlan } from "./reply/upstream.ts";
import { billedTokens } from "./reply/billed-tokens.ts";
import { findBilledCost, newMeter } from "./reply/usage.ts";
import type { Services } from "./services/connect-services.ts";
import type { TraceHeaders } from "./services/tracing.ts";

/** A client's call of an endpoint. */
export interface Call {
  readonly requestId: string;
  readonly endpoint: MessageRecord["endpoint"];
  /** The names of the repairs of its history. */
  readonly repairs?: readonly string[];
  /** Null if the router asks for no key. */
  readonly key: (RouterKey & Pick<Allowance, "cause">) | null;
  /** Null without a limit in US dollars. */
  readonly budget: CallBudget | null;
  readonly signal: AbortSignal;
  readonly trace?: TraceHeaders;
}

interface RouterReplyOptions extends Partial<
  Pick<Parameters<typeof generateReply>[1], "passed" | "toService" | "onWarnings" | "isWhole">
> {
  readonly listener: ReplyListener;
  /** The order of its models if it is known. */
  readonly planned?: ReturnType<Plans["planFor"]>;
  /** The evaluation model's decision if another model replies. */
  readonly autoDecision?: Promise<Decision> | null;
  /** Called with the new decision when another model of the chain is asked. */
  readonly onFallback?: (decision: Decision) => void;
}

/** A reply with its final decision. */
export interface Answer {
  readonly decision: Decision;
  readonly reply: GeneratedReply;
}

interface ObservedRouting extends Routing {
  readonly services: Services;
  /** The router's name in its records. */
  readonly instance: string;
  readonly observers: readonly ((record: MessageRecord) => void)[];
  readonly blindShadow?: Pick<BlindShadow, "watch"> | null | undefined;
}

/** Decides and replies for all endpoints, and reports the end of each message exactly once. */
export class MessageRouter {
  readonly #routing: ObservedRouting;
  readonly #signatures = createSignatureMemory();
  /** Who is asked for a reply, and in which order. */
  readonly plans: Plans;

  constructor(routing: ObservedRouting) {
    this.#routing = routing;
    this.plans = new Plans(routing);
  }

  /**
   * Reserves `auto` in the call's budget, without a conversation the decision alone. The returned call's
   * key allows only the tiers that fit.
   */
  async reserveAuto(
    call: Call,
    evaluatedText: string,
    conversation: Conversation | null,
  ): Promise<Call> {
    const { key, budget } = call;
    if (key === null || budget === null) return call;
    const { current } = this.#routing.services.replies;
    const keyTiers = allowedTiers(key, current);
    // A key may have a model and no tier.
    const usableTiers: readonly Tier[] = keyTiers.length > 0 ? keyTiers : [cheapestTier];
    const plans = usableTiers.map((tier) => {
      const decision = decideUnasked({ tier }, "requested", this.#routing);
      return findPlan(keepAllowed(decision, key, this.#routing), current, key);
    });
    const fittingPlans = await budget.reserve({ evaluatedText, conversation, plans });
    if (fittingPlans.length === plans.length) return call;
    const within = usableTiers.filter((_, at) => fittingPlans.includes(plans[at] as ReplyPlan));
    return { ...call, key: { ...key, tiers: within, cause: "budget" } };
  }

  /** Lets the evaluation model choose a tier. A shadow's failure is not recorded. */
  async decide(state: TierState, call: Call, { isShadow = false }: { isShadow?: boolean } = {}) {
    const { budget } = call;
    const onLost = budget && ((attempts: number) => void budget.addEvaluations(attempts));
    const decisionOptions = { signal: call.signal, headers: this.#toHeaders(call), onLost };
    try {
      const decision = await decide(state, this.#routing, decisionOptions);
      return keepAllowed(decision, call.key, this.#routing);
    } catch (thrownValue) {
      const outcome = call.signal.aborted ? "stopped" : "no-decision";
      const failure =
        thrownValue instanceof Error ? thrownValue : new Error("Not an error was thrown.");
      if (!isShadow) await this.#record(call, { outcome, failure });
      throw thrownValue;
    }
  }

  async decideOnly(state: TierState, askedCall: Call): Promise<Decision> {
    const isFree = askedCall.budget === null;
    const call = isFree ? askedCall : await this.reserveAuto(askedCall, state.user_message, null);
    const decision = await this.decide(state, call);
    await this.#record(call, { outcome: "decided", decision });
    return decision;
  }

  /** Asks the decision's model; a failure is data. */
  async reply(
    first: Decision,
    unlimitedConversation: Conversation,
    replyOptions: RouterReplyOptions & Call,
  ) {
    const {
      autoDecision = null,
      onFallback,
      passed: passedRequest = null,
      planned,
      toService,
      onWarnings,
      isWhole,
      ...call
    } = replyOptions;
    const { services, blindShadow } = this.#routing;
    const { redact, tracing } = services;
    const { budget } = call;
    const routedRequest = { conversation: unlimitedConversation, passed: passedRequest };
    const { plan, plannedDecision } = planned ?? this.plans.planFor(first, routedRequest, call.key);
    const meter = newMeter();
    let decision = plannedDecision;
    if (plannedDecision.cause !== first.cause) onFallback?.(plannedDecision);
    const countBilled = () => billedTokens(meter, unlimitedConversation);
    let lostUsd: number | null = 0;
    const spentUsd = () => findBilledCost(countBilled().usage, decision.prices.model);
    const conversation =
      (await budget?.begin(plan, unlimitedConversation, spentUsd)) ?? unlimitedConversation;
    const watchedMessage = { ...call, conversation, passed: passedRequest };
    const comparison = blindShadow?.watch(watchedMessage, first, call.listener);
    const listener = comparison?.listener ?? call.listener;
    const ask = () =>
      generateReply(conversation, {
        plan,
        passed: budget?.isOpenEnded === true ? null : passedRequest, // no one could end it in the client's form
        listener: budget?.limit(listener, plan) ?? listener,
        signal: call.signal,
        headers: this.#toHeaders(call),
        redact,
        meter,
        signatures: this.#signatures,
        toService,
        onWarnings,
        isWhole: isWhole === true && budget === null, // a budget may end the reply at any piece
        marksCaches: this.#routing.policy.marksCaches,
        onEnd: (target, failedReply) => this.plans.note(target, failedReply, unlimitedConversation),
        onNext: async (target, { cause, maybeBilled }) => {
          const usage = maybeBilled ? countBilled().usage : meter.reported;
          const attemptUsd = usage === null ? 0 : findBilledCost(usage, decision.prices.model);
          if ((await budget?.addAttempt(attemptUsd)) === false) return false;
          lostUsd = lostUsd === null || attemptUsd === null ? null : lostUsd + attemptUsd;
          Object.assign(meter, newMeter());
          if (cause === null) return true;
          decision = { ...decision, ...toAskedModel(target, this.#routing), cause };
          onFallback?.(decision);
          return true;
        },
      });
    try {
      const reply = await (tracing === null ? ask() : tracing.reply(() => decision, ask));
      const outcome = reply.replyError === null ? "replied" : "reply-failed";
      const end = { outcome, decision, reply, billedTokens: reply.billedTokens, lostUsd } as const;
      await this.#record(call, end, autoDecision);
      comparison?.end(decision, reply, lostUsd);
      return { decision, reply };
    } catch (error) {
      const currentBilledTokens = meter.isSent === true ? countBilled() : null;
      const stoppedEnd = {
        outcome: "stopped",
        decision,
        billedTokens: currentBilledTokens,
        lostUsd,
      } as const;
      await this.#record(call, stoppedEnd, autoDecision);
      throw error;
    }
  }

  /** Records and settles the end of a message. */
  async #record(
    call: Call,
    end: Parameters<typeof toMessageRecord>[2],
    autoDecision: Promise<Decision> | null = null,
  ): Promise<void> {
    if (autoDecision !== null) {
      // The reply does not wait; a failed decision is recorded as none.
      void autoDecision.catch(() => null).then((auto) => this.#record(call, { ...end, auto }));
      return;
    }
    const { instance, observers } = this.#routing;
    const record = toMessageRecord(instance, call, end);
    for (const observe of observers) observe(record);
    if (call.budget === null) return;
    // An evaluation that was stopped or lost may be paid for.
    const isStopped = end.outcome === "stopped" && end.decision === undefined;
    const isAsked = isStopped || maybeBilled(end.failure) || record.wire !== null;
    const decisionUsd = record.decisionCostUsd ?? (isAsked ? null : 0);
    const modelPrice = end.decision?.prices.model ?? null;
    await call.budget.settle(
      end.billedTokens ? findBilledCost(end.billedTokens.usage, modelPrice) : 0,
      decisionUsd,
    );
  }

  /** Ids of a message for the services that decide and reply. */
  #toHeaders({ requestId, trace }: Call): Record<string, string> {
    const { tracing } = this.#routing.services;
    return { "x-request-id": requestId, ...(tracing === null ? trace : tracing.headers()) };
  }
}
