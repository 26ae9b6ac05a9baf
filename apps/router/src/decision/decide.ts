import {
  basisOf,
  calibrate,
  type CalibrationArtifact,
  CalibrationMismatchError,
} from "evaluator-calibration";
import { type Evaluation, EvaluatorError, TimeoutError } from "evaluator-client";
import type { PriceList } from "../reply/reply.ts";
import type { Services } from "../services/connect-services.ts";
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
import { type Tier, tierNames, tierQuestionHash, tierQuestions } from "./tier-question.ts";

/** The parts that route a message. */
export interface Routing {
  readonly services: Services;
  readonly tierModels: Readonly<Record<Tier, string>>;
  readonly policy: RoutingPolicy;
  readonly prices: PriceList;
  /** Corrects the evaluation model's probabilities. @default null */
  readonly calibration?: CalibrationArtifact | null;
  /** Holds the model and the wire of the latest answer. */
  readonly latest?: { answer: Pick<AskedEvaluation, "evaluatorModelId" | "wire"> };
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

/** The paid evaluation does not fit the calibration, which was made for another model. */
export class UnfitCalibrationError extends Error {
  override readonly name = "UnfitCalibrationError";
  readonly evaluation: AskedEvaluation;

  constructor(evaluation: AskedEvaluation, cause: CalibrationMismatchError) {
    super(`${cause.message} Until then, start this router without ROUTER_CALIBRATION.`, { cause });
    this.evaluation = evaluation;
  }
}

/** Chooses a tier. @throws EvaluatorError, UnfitCalibrationError, or the signal's reason. */
export async function decide(
  state: TierState,
  routing: Routing,
  {
    signal,
    headers,
    atLeast,
  }: { signal: AbortSignal; headers: Record<string, string>; atLeast: Tier | null },
): Promise<Decision> {
  const { services, policy } = routing;
  const { decisionTimeoutMs: deadlineMs, failureTier } = policy;
  const request = { state: { ...state }, questions: tierQuestions };
  const options = { signal, headers, ...(deadlineMs !== null && { deadlineMs }) };
  const startedAt = performance.now();
  try {
    return toDecision(await services.evaluator.evaluate(request, options), routing, atLeast);
  } catch (error) {
    signal.throwIfAborted();
    const cause = causeOf(error);
    if (failureTier === null || cause === null) throw error;
    const asked =
      error instanceof UnfitCalibrationError
        ? error.evaluation
        : { decisionMs: Math.round(performance.now() - startedAt) };
    return { ...decideTier(failureTier, cause, routing), ...asked };
  }
}

/** Null for an unexpected error. */
function causeOf(error: unknown): Cause | null {
  if (error instanceof UnfitCalibrationError) return "calibration-mismatch";
  if (error instanceof TimeoutError) return "decision-timeout";
  return error instanceof EvaluatorError ? "evaluation-failed" : null;
}

/** Returns the decision for a tier that no evaluation chose. */
export function decideTier(tierUsed: Tier, cause: Cause, routing: Routing): Decision {
  return { ...noChoice, ...noEvaluation, ...toTierModel(tierUsed, routing), cause };
}

/** Returns the decision for a model that the client or a shadow names. */
export function decideModel(
  model: string,
  cause: Cause,
  { prices, tierModels }: Routing,
): Decision {
  const frontier = prices.get(tierModels.frontier) ?? null;
  const named = { tierUsed: null, model, prices: { model: prices.get(model) ?? null, frontier } };
  return { ...noChoice, ...noEvaluation, ...named, cause };
}

type TierEvaluation = Evaluation<typeof tierQuestions>;

function toDecision(evaluation: TierEvaluation, routing: Routing, atLeast: Tier | null): Decision {
  const { services, policy, calibration = null, latest } = routing;
  const { timing, costUsd, requestId, modelId, answers, confidence } = evaluation;
  const { redact, engineAddress } = services;
  const asked: AskedEvaluation = {
    decisionMs: Math.round(timing.totalMs),
    costUsd,
    evaluationId: requestId && redact.strictly(requestId), // a service's words may hold a key
    evaluatorModelId: modelId && redact.strictly(modelId),
    questionHash: tierQuestionHash,
    wire: wireOf(evaluation, engineAddress),
  };
  if (latest !== undefined) latest.answer = asked;
  const { choice, probabilities: printed } = answers.tier;
  const shares =
    calibration === null
      ? { probabilities: printed, printedProbabilities: null, confidence: confidence.tier }
      : calibrated(evaluation, asked, calibration);
  const ruled = applyPolicy(choice, shares, policy);
  const isTooLow =
    atLeast !== null && tierNames.indexOf(ruled.tierUsed) < tierNames.indexOf(atLeast);
  const { tierUsed, cause } = isTooLow
    ? { tierUsed: atLeast, cause: "conversation" as const }
    : ruled;
  return { tierChosen: choice, ...toTierModel(tierUsed, routing), cause, ...shares, ...asked };
}

function calibrated(
  evaluation: TierEvaluation,
  asked: AskedEvaluation,
  calibration: CalibrationArtifact,
) {
  try {
    const { tier } = calibrate(
      { ...evaluation, questionHash: tierQuestionHash },
      calibration,
    ).answers;
    const printedProbabilities = evaluation.answers.tier.probabilities;
    return { probabilities: tier.probabilities, printedProbabilities, confidence: null };
  } catch (error) {
    if (!(error instanceof CalibrationMismatchError)) throw error;
    throw new UnfitCalibrationError(asked, error);
  }
}

/** A confidence up to this counts as flat. Chosen, not measured: flat is 0. */
const NO_CONFIDENCE = 0.05;

/** Shares with a smaller difference are equal: both are printed with two decimals. */
const EQUAL_SHARES = 0.005;

/** Returns the chosen tier; or the next one up if the confidence is too low or the shares are tied. */
export function applyPolicy(
  chosen: Tier,
  { probabilities, confidence }: { probabilities: Shares; confidence: number | null },
  { minConfidence, ties }: ChoicePolicy,
): { readonly tierUsed: Tier; readonly cause: Cause } {
  const next = tierNames[tierNames.indexOf(chosen) + 1];
  if (next === undefined) return { tierUsed: chosen, cause: "choice" };
  if (minConfidence !== null && (confidence ?? probabilities[chosen]) < minConfidence) {
    return { tierUsed: next, cause: "low-confidence" };
  }
  const isTied = ties === "up" && areTied(chosen, probabilities, confidence);
  return isTied ? { tierUsed: next, cause: "tie" } : { tierUsed: chosen, cause: "choice" };
}

function areTied(chosen: Tier, probabilities: Shares, confidence: number | null): boolean {
  if (confidence !== null && confidence <= NO_CONFIDENCE) return true;
  const least = probabilities[chosen] - EQUAL_SHARES;
  return tierNames.some((tier) => tier !== chosen && probabilities[tier] > least);
}

function toTierModel(tierUsed: Tier, { tierModels, prices }: Routing) {
  const model = tierModels[tierUsed];
  const frontier = prices.get(tierModels.frontier) ?? null;
  return { tierUsed, model, prices: { model: prices.get(model) ?? null, frontier } };
}

/** Returns a decision as the `x-router-*` headers of an answer. */
export function decisionHeaders(decision: Decision): Record<string, string> {
  return {
    "x-router-tier": decision.tierUsed ?? "none",
    "x-router-tier-chosen": decision.tierChosen ?? "none",
    "x-router-model": decision.model,
    "x-router-cause": decision.cause,
    "x-router-decision-ms": String(decision.decisionMs),
  };
}

/** Returns the engine's address, marked if only the answer itself shows that an emulator gave it. */
export function wireOf({ headers }: Pick<Evaluation, "headers">, engineAddress: string): string {
  const isMarked = basisOf(null, engineAddress) !== "model";
  return "x-evaluator-emulator" in headers && !isMarked
    ? `emulator ${engineAddress}`
    : engineAddress;
}

/** Returns who made a decision, from its model and its wire; null if unknown. */
export function deciderOf(modelId: string | null, wire: string | null): Decider {
  const isEmulated = basisOf(modelId, wire) !== "model";
  return { modelId, isEmulated: isEmulated || (wire === null ? null : false) };
}
