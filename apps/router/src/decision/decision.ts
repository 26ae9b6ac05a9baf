import type { ModelPrice } from "../prices/tokens.ts";
import type { Tier } from "../tier-question.ts";

/** When a tier is used that is not the choice of the evaluation model: what an eval tries out. */
export interface ChoicePolicy {
  /**
   * Below this confidence, 0..1, the next tier up is taken; null for never. Where the service tells
   * none, and for calibrated answers, the chosen tier's probability is compared.
   */
  readonly minConfidence: number | null;
  /**
   * What equal shares, or a confidence near 0, lead to where the contract does not say: the next
   * tier up, or the choice as it is. `/chat` and `/decide` always take the choice.
   */
  readonly ties: "up" | "choice";
}

/** When the router does something else than the evaluation model chose; by default, at ties of `/v1` alone. */
export interface RoutingPolicy extends ChoicePolicy {
  /** The tier taken when the evaluation fails; null to answer with its error. */
  readonly failureTier: Tier | null;
  /** Time for the decision, retries included, in milliseconds; null for the client's own limit. */
  readonly decisionTimeoutMs: number | null;
  /** The text models asked in turn when the tier's model is rejected or fails. */
  readonly fallbackModels: readonly string[];
  /** The text model that replies in place of those that are chosen; null for none. */
  readonly shadowModel: string | null;
}

/** The model's choice stands, but for ties at `/v1`, and every failure is reported. */
export const defaultPolicy: RoutingPolicy = {
  minConfidence: null,
  failureTier: null,
  decisionTimeoutMs: null,
  fallbackModels: [],
  ties: "up",
  shadowModel: null,
};

/**
 * Why the tier and the model are what they are: the evaluation model's choice, a rule of the
 * {@link RoutingPolicy}, or the client's own request.
 */
export type Cause =
  | "choice"
  | "low-confidence"
  | "tie"
  | "conversation"
  | "evaluation-failed"
  | "decision-timeout"
  | "calibration-mismatch"
  | "requested"
  | "shadow"
  | "model-refused" // an HTTP error of the text model before: 402, 403, 404 or 429
  | "model-failed"; // a 5xx of it

/** One tier with its model and price, as the page shows it before anything is asked. */
export interface TierEntry {
  readonly tier: Tier;
  readonly model: string;
  readonly price: ModelPrice | null;
}

/** What of a conversation the evaluation model reads where the contract does not say. */
export const contextModes = ["last", "turns", "sticky"] as const;
/** One of {@link contextModes}. */
export type ContextMode = (typeof contextModes)[number];

/** What the evaluation model reads of a message; the contract's one key, and what came before. */
export interface TierState {
  readonly user_message: string;
  /** The turns before, cut; only where the router is set up to send them. */
  readonly earlier_turns?: string;
}

/** Probability of each tier, 0..1. */
export type Shares = Readonly<Record<Tier, number>>;

/** The evaluation behind a decision: what was asked of whom, and what it cost. */
export interface AskedEvaluation {
  /** Time of the evaluation call, in whole milliseconds. */
  readonly decisionMs: number;
  /** Price of the evaluation call in US dollars, or null when not said. */
  readonly costUsd: number | null;
  /** The service's id of the evaluation, or null. */
  readonly evaluationId: string | null;
  /** The evaluation model that answered, or null when not said. */
  readonly evaluatorModelId: string | null;
  /** The hash of the question that was asked, as calibrations name it; null when nothing answered. */
  readonly questionHash: string | null;
  /** How the evaluation model was reached, and where; marked if the emulator answered; null when nothing did. */
  readonly wire: string | null;
}

/** Who made a decision, as its answer shows it. */
export interface Decider {
  /** The model that the answer names; null if it names none. */
  readonly modelId: string | null;
  /** Whether the emulator answered, in whatever process; null while nothing has answered. */
  readonly isEmulated: boolean | null;
}

/** Returns who decided in words for a person. */
export function describeDecider({ modelId, isEmulated }: Decider): string {
  if (isEmulated !== true) return modelId ?? "a model that is not named";
  return `the emulator${modelId === null ? "" : ` (as ${modelId})`}, not by a model`;
}

/** Which tier and model answer a message, and why. */
export interface Decision extends AskedEvaluation {
  /** The evaluation model's choice, or null when it made none. */
  readonly tierChosen: Tier | null;
  /** The tier whose model is asked; null for a model that the client named itself. */
  readonly tierUsed: Tier | null;
  readonly cause: Cause;
  /** The text model that is asked. */
  readonly model: string;
  /** Probability of each tier, 0..1, calibrated where there is a calibration; null when there was no evaluation. */
  readonly probabilities: Shares | null;
  /** The probabilities as the service printed them, where a calibration replaced them; else null. */
  readonly printedProbabilities: Shares | null;
  /** Confidence of the choice, 0..1; null when not given, and for calibrated probabilities. */
  readonly confidence: number | null;
  /** Prices of the model that is asked and of the frontier tier's, for a comparison. */
  readonly prices: { readonly model: ModelPrice | null; readonly frontier: ModelPrice | null };
}
