import { type Evaluation, EvaluatorError, TimeoutError } from "evaluator-client";
import type { PriceList } from "../prices/model-price.ts";
import type { Services } from "../services/services.ts";
import { type Tier, tierQuestions } from "../tier-question.ts";
import { applyPolicy } from "./apply-policy.ts";
import type { Cause, Decision } from "./decision.ts";
import type { RoutingPolicy } from "./routing-policy.ts";

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
  jevMs: 0,
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
  const limit = policy.decisionMs === null ? {} : { deadlineMs: policy.decisionMs };
  const startedAt = now();
  try {
    return fromChoice(await services.evaluator.evaluate(request, { signal, ...limit }), routing);
  } catch (error) {
    signal.throwIfAborted();
    if (policy.failureTier === null || !(error instanceof EvaluatorError)) throw error;
    const cause = error instanceof TimeoutError ? "decision-timeout" : "evaluation-failed";
    const jevMs = Math.round(now() - startedAt);
    return { ...decideTier(policy.failureTier, cause, routing), jevMs };
  }
}

/** The decision for a tier that no evaluation chose. */
export function decideTier(tierUsed: Tier, cause: Cause, routing: Routing): Decision {
  return { ...noChoice, ...askTier(tierUsed, routing), cause };
}

/** The same decision with another model, as the one of the tier was refused. */
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
    jevMs: Math.round(timing.totalMs),
    costUsd,
    evaluationId: requestId === null ? null : redact(requestId), // the service's own words
  };
}

function askTier(tierUsed: Tier, { tierModels, prices }: Routing) {
  const model = tierModels[tierUsed];
  const frontier = prices.get(tierModels.frontier) ?? null;
  return { tierUsed, model, prices: { model: prices.get(model) ?? null, frontier } };
}
