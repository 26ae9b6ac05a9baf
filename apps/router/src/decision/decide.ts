import {
  calibrate,
  type CalibrationArtifact,
  CalibrationMismatchError,
} from "evaluator-calibration";
import { type Evaluation, EvaluatorError, TimeoutError } from "evaluator-client";
import type { PriceList } from "../prices/tokens.ts";
import type { Services } from "../services/services.ts";
import { type Tier, tierNames, tierQuestionHash, tierQuestions } from "../tier-question.ts";
import { deciderOf, wireOf } from "./decider.ts";
import type {
  AskedEvaluation,
  Cause,
  ChoicePolicy,
  Decider,
  Decision,
  RoutingPolicy,
  Shares,
  TierState,
} from "./decision.ts";

/** What a message is routed with. */
export interface Routing {
  readonly services: Services;
  /** The text model id of each tier. */
  readonly tierModels: Readonly<Record<Tier, string>>;
  readonly policy: RoutingPolicy;
  readonly prices: PriceList;
  /** Corrects the evaluation model's probabilities. @default null: they stay as they are printed */
  readonly calibration?: CalibrationArtifact | null;
  /** The least tier that is taken. @default null: any */
  readonly atLeast?: Tier | null;
  /** Called with who decided, after each answer. @default nobody wants to know */
  readonly onAnswer?: (decider: Decider) => void;
  /** Monotonic time in milliseconds. @default performance.now */
  readonly now?: () => number;
}

const noEvaluation: AskedEvaluation = {
  decisionMs: 0,
  costUsd: null,
  evaluationId: null,
  evaluatorModelId: null,
  questionHash: null,
  wire: null,
};

const noChoice = {
  tierChosen: null,
  probabilities: null,
  printedProbabilities: null,
  confidence: null,
};

/** The evaluation came and was paid for, but the calibration was made for another model. */
export class UnfitCalibrationError extends Error {
  override readonly name = "UnfitCalibrationError";
  readonly evaluation: AskedEvaluation;

  constructor(evaluation: AskedEvaluation, cause: CalibrationMismatchError) {
    super(`${cause.message} Until then, start this router without ROUTER_CALIBRATION.`, { cause });
    this.evaluation = evaluation;
  }
}

/**
 * Lets the evaluation model choose a tier for a message, and applies the policy to its choice.
 *
 * @throws EvaluatorError or UnfitCalibrationError when there is no choice and no tier for that, or
 * the signal's reason.
 */
export async function decide(
  state: TierState,
  routing: Routing,
  { signal, headers }: { signal: AbortSignal; headers: Readonly<Record<string, string>> },
): Promise<Decision> {
  const { services, policy, now = () => performance.now() } = routing;
  const request = { state: { ...state }, questions: tierQuestions };
  const limit = policy.decisionTimeoutMs === null ? {} : { deadlineMs: policy.decisionTimeoutMs };
  const options = { signal, headers, ...limit };
  const startedAt = now();
  try {
    return fromChoice(await services.evaluator.evaluate(request, options), routing);
  } catch (error) {
    signal.throwIfAborted();
    const cause = causeOf(error);
    if (policy.failureTier === null || cause === null) throw error;
    const asked =
      error instanceof UnfitCalibrationError
        ? error.evaluation
        : { decisionMs: Math.round(now() - startedAt) };
    return { ...decideTier(policy.failureTier, cause, routing), ...asked };
  }
}

/** Why there is no choice; null for an error that nobody expected. */
function causeOf(error: unknown): Cause | null {
  if (error instanceof UnfitCalibrationError) return "calibration-mismatch";
  if (error instanceof TimeoutError) return "decision-timeout";
  return error instanceof EvaluatorError ? "evaluation-failed" : null;
}

/** Returns the decision for a tier that no evaluation chose. */
export function decideTier(tierUsed: Tier, cause: Cause, routing: Routing): Decision {
  return { ...noChoice, ...noEvaluation, ...askTier(tierUsed, routing), cause };
}

/** Returns the decision for a model that the client names itself: nothing is left to choose. */
export function decideModel(
  model: string,
  { prices, tierModels }: Routing,
  cause: Cause = "requested",
): Decision {
  const frontier = prices.get(tierModels.frontier) ?? null;
  const asked = { tierUsed: null, model, prices: { model: prices.get(model) ?? null, frontier } };
  return { ...noChoice, ...noEvaluation, ...asked, cause };
}

/** Returns the same decision with another model, as the one before was rejected or failed. */
export function decideFallback(
  decision: Decision,
  { model, cause }: { model: string; cause: "model-refused" | "model-failed" },
  { prices }: Routing,
): Decision {
  const price = prices.get(model) ?? null;
  return { ...decision, model, cause, prices: { ...decision.prices, model: price } };
}

function fromChoice(evaluation: TierEvaluation, routing: Routing): Decision {
  const asked = askedEvaluation(evaluation, routing);
  routing.onAnswer?.(deciderOf(asked.evaluatorModelId, asked.wire));
  const { choice } = evaluation.answers.tier;
  const shares = sharesOf(evaluation, { asked, calibration: routing.calibration ?? null });
  const { probabilities, printedProbabilities, confidence } = shares;
  const ruled = applyPolicy(choice, { probabilities, confidence }, routing.policy);
  const { tierUsed, cause } = raised(ruled, routing.atLeast ?? null);
  return {
    tierChosen: choice,
    ...askTier(tierUsed, routing),
    cause,
    probabilities,
    printedProbabilities,
    confidence,
    ...asked,
  };
}

type TierEvaluation = Evaluation<typeof tierQuestions>;

function askedEvaluation(evaluation: TierEvaluation, { services }: Routing): AskedEvaluation {
  const { timing, costUsd, requestId, modelId } = evaluation;
  const { redact, engineAddress } = services;
  const clear = (words: string | null) => (words === null ? null : redact.strictly(words)); // the service's own
  return {
    decisionMs: Math.round(timing.totalMs),
    costUsd,
    evaluationId: clear(requestId),
    evaluatorModelId: clear(modelId),
    questionHash: tierQuestionHash,
    wire: wireOf(evaluation, engineAddress),
  };
}

interface SharesOptions {
  readonly asked: AskedEvaluation;
  readonly calibration: CalibrationArtifact | null;
}

/** Returns the probabilities to decide by, and the printed ones where they were replaced. */
function sharesOf(evaluation: TierEvaluation, { asked, calibration }: SharesOptions) {
  const { answers, confidence } = evaluation;
  const printed = answers.tier.probabilities;
  if (calibration === null) {
    return { probabilities: printed, printedProbabilities: null, confidence: confidence.tier };
  }
  try {
    const printedEvaluation = { ...evaluation, questionHash: tierQuestionHash };
    const { tier } = calibrate(printedEvaluation, calibration).answers;
    return { probabilities: tier.probabilities, printedProbabilities: printed, confidence: null };
  } catch (error) {
    if (!(error instanceof CalibrationMismatchError)) throw error;
    throw new UnfitCalibrationError(asked, error);
  }
}

/** A confidence up to which a distribution is as good as flat. Chosen, not measured: flat is 0. */
const NO_CONFIDENCE = 0.05;

/** Two shares that are printed alike, with two decimals, are equal. */
const EQUAL_SHARES = 0.005;

/**
 * Returns the tier to use for a choice: the chosen one, or the next one up where confidence is too
 * low, or where the shares are tied.
 */
export function applyPolicy(
  chosen: Tier,
  { probabilities, confidence }: { probabilities: Shares; confidence: number | null },
  { minConfidence, ties }: ChoicePolicy,
): { readonly tierUsed: Tier; readonly cause: Cause } {
  const next = tierNames[tierNames.indexOf(chosen) + 1];
  if (next === undefined) return { tierUsed: chosen, cause: "choice" };
  const sureness = confidence ?? probabilities[chosen];
  if (minConfidence !== null && sureness < minConfidence) {
    return { tierUsed: next, cause: "low-confidence" };
  }
  const isTied = ties === "up" && (isFlat(confidence) || hasEqual(probabilities, chosen));
  return isTied ? { tierUsed: next, cause: "tie" } : { tierUsed: chosen, cause: "choice" };
}

function raised(ruled: ReturnType<typeof applyPolicy>, atLeast: Tier | null) {
  const isHighEnough =
    atLeast === null || tierNames.indexOf(ruled.tierUsed) >= tierNames.indexOf(atLeast);
  return isHighEnough ? ruled : { tierUsed: atLeast, cause: "conversation" as const };
}

function isFlat(confidence: number | null): boolean {
  return confidence !== null && confidence <= NO_CONFIDENCE;
}

function hasEqual(probabilities: Shares, chosen: Tier): boolean {
  const least = probabilities[chosen] - EQUAL_SHARES;
  return tierNames.some((tier) => tier !== chosen && probabilities[tier] > least);
}

function askTier(tierUsed: Tier, { tierModels, prices }: Routing) {
  const model = tierModels[tierUsed];
  const frontier = prices.get(tierModels.frontier) ?? null;
  return { tierUsed, model, prices: { model: prices.get(model) ?? null, frontier } };
}

/** Returns a decision as the `x-router-*` headers of every answer. */
export function decisionHeaders(decision: Decision): Record<string, string> {
  return {
    "x-router-tier": decision.tierUsed ?? "none",
    "x-router-tier-chosen": decision.tierChosen ?? "none",
    "x-router-model": decision.model,
    "x-router-cause": decision.cause,
    "x-router-decision-ms": String(decision.decisionMs),
  };
}
