import { type Evaluation, EvaluatorError, TimeoutError } from "evaluator-client";
import type { PriceList } from "../prices/model-price.ts";
import type { Services } from "../services/services.ts";
import { type Tier, tierNames, tierQuestions } from "../tier-question.ts";
import type { Cause, Decision, RoutingPolicy } from "./decision.ts";

/** What a message is routed with. */
export interface Routing {
  readonly services: Services;
  /** The text model id of each tier. */
  readonly tierModels: Readonly<Record<Tier, string>>;
  readonly policy: RoutingPolicy;
  readonly prices: PriceList;
  /** Monotonic time in milliseconds. @default performance.now */
  readonly now?: () => number;
}

const noChoice = {
  tierChosen: null,
  probabilities: null,
  confidence: null,
  decisionMs: 0,
  costUsd: null,
  evaluationId: null,
};

/**
 * Lets the evaluation model choose a tier for a message, and applies the policy to its choice.
 *
 * @throws EvaluatorError when there is no choice and no tier for that, or the signal's reason.
 */
export async function decide(
  message: string,
  routing: Routing,
  signal: AbortSignal,
): Promise<Decision> {
  const { services, policy, now = () => performance.now() } = routing;
  const request = { state: { user_message: message }, questions: tierQuestions };
  const limit = policy.decisionTimeoutMs === null ? {} : { deadlineMs: policy.decisionTimeoutMs };
  const startedAt = now();
  try {
    return fromChoice(await services.evaluator.evaluate(request, { signal, ...limit }), routing);
  } catch (error) {
    signal.throwIfAborted();
    if (policy.failureTier === null || !(error instanceof EvaluatorError)) throw error;
    const cause = error instanceof TimeoutError ? "decision-timeout" : "evaluation-failed";
    const decisionMs = Math.round(now() - startedAt);
    return { ...decideTier(policy.failureTier, cause, routing), decisionMs };
  }
}

/** Returns the decision for a tier that no evaluation chose. */
export function decideTier(tierUsed: Tier, cause: Cause, routing: Routing): Decision {
  return { ...noChoice, ...askTier(tierUsed, routing), cause };
}

/** Returns the same decision with another model, as the one of the tier was refused. */
export function decideFallback(decision: Decision, model: string, { prices }: Routing): Decision {
  const price = prices.get(model) ?? null;
  return {
    ...decision,
    model,
    cause: "model-refused",
    prices: { ...decision.prices, model: price },
  };
}

function fromChoice(evaluation: Evaluation<typeof tierQuestions>, routing: Routing): Decision {
  const { answers, confidence, timing, costUsd, requestId } = evaluation;
  const { redact } = routing.services;
  const { choice, probabilities } = answers.tier;
  const { tierUsed, cause } = applyPolicy(choice, confidence.tier, routing.policy);
  return {
    tierChosen: choice,
    ...askTier(tierUsed, routing),
    cause,
    probabilities,
    confidence: confidence.tier,
    decisionMs: Math.round(timing.totalMs),
    costUsd,
    evaluationId: requestId === null ? null : redact(requestId), // the service's own words
  };
}

/** Returns the tier to use for a choice: the chosen one, or the next one up where confidence is too low. */
export function applyPolicy(
  chosen: Tier,
  confidence: number | null,
  { minConfidence }: Pick<RoutingPolicy, "minConfidence">,
): { readonly tierUsed: Tier; readonly cause: Cause } {
  const isSure = minConfidence === null || confidence === null || confidence >= minConfidence;
  const next = tierNames[tierNames.indexOf(chosen) + 1];
  if (isSure || next === undefined) return { tierUsed: chosen, cause: "choice" };
  return { tierUsed: next, cause: "low-confidence" };
}

function askTier(tierUsed: Tier, { tierModels, prices }: Routing) {
  const model = tierModels[tierUsed];
  const frontier = prices.get(tierModels.frontier) ?? null;
  return { tierUsed, model, prices: { model: prices.get(model) ?? null, frontier } };
}

/** Returns a decision as the `x-router-*` headers of every answer. */
export function decisionHeaders(decision: Decision): Record<string, string> {
  return {
    "x-router-tier": decision.tierUsed,
    "x-router-tier-chosen": decision.tierChosen ?? "none",
    "x-router-model": decision.model,
    "x-router-cause": decision.cause,
    "x-router-decision-ms": String(decision.decisionMs),
  };
}
