import {
  basisOf,
  calibrate,
  type CalibrationArtifact,
  CalibrationMismatchError,
  decide as decideActs,
} from "evaluator-calibration";
import {
  ConnectionError,
  type Evaluation,
  type Evaluator,
  EvaluatorError,
  type Middleware,
  TimeoutError,
} from "evaluator-client";
import type { Target } from "../reply/upstream.ts";
import type { ModelPrice } from "../reply/usage.ts";
import type { DecisionServices } from "../evaluations/evaluation-services.ts";
import type { Redact } from "../reply/redactor.ts";
import { type Allowance, allowedTiers, type Named, findPrice, type Replies } from "./replies.ts";
import { HttpError } from "../http-error.ts";
import type { ListedCapabilities } from "./capabilities.ts";
import type { Cause, Decider, Decision, RoutingPolicy, TierFit, TierState } from "./decision.ts";
import {
  type Shares,
  type Tier,
  tierNames,
  tierQuestionHash,
  tierQuestions,
} from "./tier-question.ts";

/** The evaluation behind a decision. */
type AskedEvaluation = Pick<
  Decision,
  "decisionMs" | "costUsd" | "evaluationId" | "evaluatorModelId" | "questionHash" | "wire"
>;

/** The parts that route a message. */
export interface Routing {
  readonly services: {
    readonly evaluator: Evaluator;
    readonly engineAddress: string;
    readonly redact: Redact;
    /** Replaced when the configuration is read again. */
    readonly replies: { readonly current: Replies; readonly capabilities: ListedCapabilities };
    /** Who answers clients' own questions; replaced too. */
    readonly decisions: { readonly current: DecisionServices };
  };
  readonly policy: RoutingPolicy;
  /** Known prices by model id. */
  readonly prices: ReadonlyMap<string, ModelPrice>;
  /** Corrects the evaluation model's probabilities. @default null */
  readonly calibration?: CalibrationArtifact | null;
  /** Decides instead of the evaluation model. @default null */
  readonly fit?: TierFit | null;
  /** Holds the model and the wire of the latest answer. */
  readonly latest?: { answer: Pick<AskedEvaluation, "evaluatorModelId" | "wire"> };
}

/** The paid evaluation does not fit the calibration, which was made for another model. */
export class UnfitCalibrationError extends Error {
  override readonly name = "UnfitCalibrationError";
  readonly evaluation: AskedEvaluation;

  constructor(evaluation: AskedEvaluation, cause: CalibrationMismatchError) {
    super(`${cause.message} Until then, start this router without ROUTER_CALIBRATION.`, { cause });
    this.evaluation = evaluation;
  }
}

interface DecisionCall {
  readonly signal: AbortSignal;
  readonly headers: Record<string, string>;
  /** Gets the number of attempts before the last one that may have to be paid; null if no one asks. */
  readonly onLost: ((attempts: number) => void) | null;
}

/** Chooses a tier. @throws EvaluatorError, UnfitCalibrationError, or the signal's reason. */
export async function decide(
  state: TierState,
  routing: Routing,
  { onLost, ...call }: DecisionCall,
): Promise<Decision> {
  const { services, policy, fit = null } = routing;
  if (fit?.needsEvaluation === false) {
    return decideUnasked({ tier: fit.decide(state.user_message, null).tier }, "fit", routing);
  }
  const { decisionTimeoutMs: deadlineMs, failureTier } = policy;
  const request = { state: { ...state }, questions: tierQuestions };
  const callOptions = { ...call, ...(deadlineMs !== null && { deadlineMs }) };
  const startedAt = performance.now();
  try {
    const ownEvaluator = services.evaluator;
    const evaluator = onLost === null ? ownEvaluator : ownEvaluator.with(reportLost(onLost));
    return toDecision(await evaluator.evaluate(request, callOptions), state, routing);
  } catch (error) {
    call.signal.throwIfAborted();
    const cause = findCause(error);
    if (failureTier === null || cause === null) throw error;
    const askedEvaluation =
      error instanceof UnfitCalibrationError
        ? error.evaluation
        : {
            decisionMs: Math.round(performance.now() - startedAt),
            wire: maybeBilled(error) ? services.engineAddress : null,
          };
    return { ...decideUnasked({ tier: failureTier }, cause, routing), ...askedEvaluation };
  }
}

/** Counts the attempts of an evaluation that may have to be paid; its error reports a failure of the last one. */
export function reportLost(onLost: (attempts: number) => void): Middleware {
  return async (request, askNext, call) => {
    try {
      const evaluation = await askNext(request);
      onLost(call.lostAttempts);
      return evaluation;
    } catch (error) {
      onLost(Math.max(0, call.lostAttempts - Number(maybeBilled(error))));
      throw error;
    }
  };
}

/** Whether a failed evaluation may have to be paid. */
export function maybeBilled(error: unknown): boolean {
  return error instanceof ConnectionError && error.maybeBilled;
}

/** Null for an unexpected error. */
function findCause(error: unknown): Cause | null {
  if (error instanceof UnfitCalibrationError) return "calibration-mismatch";
  if (error instanceof TimeoutError) return "decision-timeout";
  return error instanceof EvaluatorError ? "evaluation-failed" : null;
}

const noEvaluation = {
  tierChosen: null,
  probabilities: null,
  printedProbabilities: null,
  confidence: null,
  promise: null,
  decisionMs: 0,
  costUsd: null,
  evaluationId: null,
  evaluatorModelId: null,
  questionHash: null,
  wire: null,
};

/** Returns the decision for a tier, or a model of no tier, that no evaluation chose. */
export function decideUnasked(namedModel: Named, cause: Cause, routing: Routing): Decision {
  const chosenModel =
    "tier" in namedModel
      ? toTierModel(namedModel.tier, routing)
      : { tierUsed: null, ...toAskedModel(namedModel.target, routing) };
  return { ...noEvaluation, ...chosenModel, cause };
}

/** Replaces a forbidden tier by the next allowed one up, else the dearest, else a model. @throws HttpError (403) */
export function keepAllowed(
  decision: Decision,
  allowance: Allowance | null,
  routing: Routing,
): Decision {
  const { tierUsed } = decision;
  const { current } = routing.services.replies;
  if (allowance === null || tierUsed === null) return decision;
  const tiers = allowedTiers(allowance, current);
  if (tiers.includes(tierUsed)) return decision;
  const isDearer = (tier: Tier) => tierNames.indexOf(tier) > tierNames.indexOf(tierUsed);
  const tier = tiers.find(isDearer) ?? tiers.at(-1) ?? null;
  const plan = tier ? current.tiers[tier] : current.planOfModel(allowance.models?.[0] ?? "");
  if (plan === null) throw new HttpError(403, "This key may use no tier and no known model here.");
  const { cause = "key" } = allowance;
  return { ...decision, tierUsed: tier, ...toAskedModel(plan.targets[0], routing), cause };
}

type TierEvaluation = Evaluation<typeof tierQuestions>;

function toDecision(evaluation: TierEvaluation, state: TierState, routing: Routing): Decision {
  const { services, policy, calibration = null, fit = null, latest } = routing;
  const { timing, costUsd, requestId, modelId, answers, confidence } = evaluation;
  const { redact, engineAddress } = services;
  const askedEvaluation: AskedEvaluation = {
    decisionMs: Math.round(timing.totalMs),
    costUsd,
    evaluationId: requestId && redact.strictly(requestId), // a service's words may hold a key
    evaluatorModelId: modelId && redact.strictly(modelId),
    questionHash: tierQuestionHash,
    wire: toWire(evaluation, engineAddress),
  };
  if (latest !== undefined) latest.answer = askedEvaluation;
  const { choice, probabilities: printedShares } = answers.tier;
  const shares =
    calibration === null
      ? { probabilities: printedShares, printedProbabilities: null, confidence: confidence.tier }
      : calibrated(evaluation, askedEvaluation, calibration);
  const fitDecision = fit?.decide(state.user_message, shares.probabilities);
  const { tierUsed, cause } = fitDecision
    ? { tierUsed: fitDecision.tier, cause: "fit" as const }
    : applyPolicy(choice, shares, policy);
  const usedModel = { ...toTierModel(tierUsed, routing), cause };
  return { tierChosen: choice, ...usedModel, promise: null, ...shares, ...askedEvaluation };
}

function calibrated(
  evaluation: TierEvaluation,
  askedEvaluation: AskedEvaluation,
  calibration: CalibrationArtifact,
) {
  const hashedEvaluation = { ...evaluation, questionHash: tierQuestionHash };
  const printedChoiceAnswer = evaluation.answers.tier;
  try {
    const { answers, confidence } = calibrate(hashedEvaluation, calibration);
    const { probabilities } = answers.tier;
    // Without a recalibration, the service's own answer and confidence stay.
    const printedProbabilities =
      answers.tier === printedChoiceAnswer ? null : printedChoiceAnswer.probabilities;
    const promise = decideActs(hashedEvaluation, calibration)["tier"] ?? null;
    return { probabilities, printedProbabilities, confidence: confidence.tier ?? null, promise };
  } catch (error) {
    if (!(error instanceof CalibrationMismatchError)) throw error;
    throw new UnfitCalibrationError(askedEvaluation, error);
  }
}

/** An answer; a promise with the chosen tier as its act keeps that tier. */
interface TierAnswer extends Pick<Decision, "confidence"> {
  readonly probabilities: Shares;
  readonly promise?: { readonly act: string | null } | null | undefined;
}

/** Returns the chosen tier; or the next one up if it is not promised, and in doubt. */
export function applyPolicy(
  chosenTier: Tier,
  { probabilities, confidence, promise }: TierAnswer,
  { minConfidence }: Pick<RoutingPolicy, "minConfidence">,
): { readonly tierUsed: Tier; readonly cause: Cause } {
  const nextTier = tierNames[tierNames.indexOf(chosenTier) + 1];
  // A promise compared the printed shares; these may be recalibrated.
  const isFinal = nextTier === undefined || promise?.act === chosenTier;
  const isSure = (confidence ?? probabilities[chosenTier]) >= (minConfidence ?? 0);
  if (isFinal || isSure) return { tierUsed: chosenTier, cause: "choice" };
  return { tierUsed: nextTier, cause: "low-confidence" };
}

function toTierModel(tierUsed: Tier, routing: Routing) {
  const [target] = routing.services.replies.current.tiers[tierUsed].targets;
  return { tierUsed, ...toAskedModel(target, routing) };
}

/** Returns the parts of a decision that its target sets. */
export function toAskedModel(target: Target, { prices, services }: Routing) {
  const [frontier] = services.replies.current.tiers.frontier.targets;
  return {
    model: target.model,
    upstream: target.upstream.name,
    prices: { model: findPrice(target, prices), frontier: findPrice(frontier, prices) },
  };
}

/** Returns the engine's address, marked if only the answer itself shows that an emulator gave it. */
export function toWire({ headers }: Pick<Evaluation, "headers">, engineAddress: string): string {
  if (!("x-evaluator-emulator" in headers)) return engineAddress;
  const isMarked = basisOf(null, engineAddress) !== "model";
  return isMarked ? engineAddress : `emulator ${engineAddress}`;
}

/** Returns who made a decision, from its model and its wire; null if unknown. */
export function toDecider(modelId: string | null, wire: string | null): Decider {
  const isEmulated = basisOf(modelId, wire) !== "model";
  return { modelId, isEmulated: isEmulated || (wire === null ? null : false) };
}
