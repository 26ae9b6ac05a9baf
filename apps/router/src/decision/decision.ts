import type { Decision as Act } from "evaluator-calibration";
import type { ModelPrice } from "../reply/usage.ts";
import type { Shares, Tier } from "./tier-question.ts";

/** The rules of a router; by default, none changes the choice. */
export interface RoutingPolicy {
  /**
   * Below this confidence, 0..1, the next tier up is used; null for never. Without a confidence, and
   * for calibrated answers, it is compared with the chosen tier's probability. A promised choice is kept.
   */
  readonly minConfidence: number | null;
  /** The tier used if the evaluation fails; null to answer with its error. */
  readonly failureTier: Tier | null;
  /** Time for the decision with its retries, in milliseconds; null for the client's own limit. */
  readonly decisionTimeoutMs: number | null;
  readonly fallbackModels: readonly string[];
  /** The text model that replies instead of the chosen one, or null. */
  readonly shadowModel: string | null;
  /** Whether conversations without marks get some for the caches of Anthropic's models. */
  readonly marksCaches: boolean;
}

/** Why a tier and a model are used: the choice, a rule of the policy, or the client's request. */
export type Cause =
  | "choice"
  | "low-confidence"
  | "evaluation-failed"
  | "decision-timeout"
  | "calibration-mismatch"
  | "fit" // a fit of `router:fit` decided
  | "requested"
  | "turn" // an earlier step of the user's turn decided
  | "warm-cache" // the conversation's model has most of it in its cache, so that it costs less
  | "task" // a program asks for a title, tags or the like
  | "key" // the client's key may not use the choice
  | "shadow"
  | "capability" // the choice's model cannot take the conversation
  | "budget" // the key's budget has no room for a dearer tier
  | "model-refused" // the model before refused the request
  | "model-failed"; // it failed before its first word

/** A fit of `router:fit`, which decides instead of the evaluation model. */
export interface TierFit {
  /** Whether it reads the evaluation model's probabilities. */
  readonly needsEvaluation: boolean;
  /** Returns the tier, and the predicted gain in quality of the frontier tier. */
  readonly decide: (text: string, probabilities: Shares | null) => { tier: Tier; gain: number };
}

/** One tier with its model and price, as `/tiers` lists it. */
export interface TierEntry {
  readonly tier: Tier;
  readonly model: string;
  readonly price: ModelPrice | null;
}

/** The state of an evaluation: the contract's one key. */
export interface TierState {
  readonly user_message: string;
}

/** Who made a decision, from its answer. */
export interface Decider {
  readonly modelId: string | null;
  /** Whether an emulator answered, in any process; null before the first answer. */
  readonly isEmulated: boolean | null;
}

/** Describes a decider for a person. */
export function describeDecider({ modelId, isEmulated }: Decider): string {
  if (isEmulated !== true) return modelId ?? "a model without a name";
  return `the emulator${modelId === null ? "" : ` (as ${modelId})`}, not by a model`;
}

/** The tier and the model for a message, and why. */
export interface Decision {
  /** The evaluation model's choice, or null if it made none. */
  readonly tierChosen: Tier | null;
  /** The tier whose model is asked; null for a model that the client named. */
  readonly tierUsed: Tier | null;
  readonly cause: Cause;
  readonly model: string;
  /** The service that is asked, by its name. */
  readonly upstream: string;
  /** Calibrated if there is a calibration; null without an evaluation. */
  readonly probabilities: Shares | null;
  /** The service's own probabilities if a calibration replaced them; else null. */
  readonly printedProbabilities: Shares | null;
  /** Confidence of the choice, 0..1; null if not given, and for calibrated probabilities. */
  readonly confidence: number | null;
  /** The promise of the calibration for the choice, or why there is none; null without a calibration. */
  readonly promise: Act | null;
  /** Prices of the model that is asked, and of the frontier tier's for comparison. */
  readonly prices: { readonly model: ModelPrice | null; readonly frontier: ModelPrice | null };
  readonly decisionMs: number;
  readonly costUsd: number | null;
  readonly evaluationId: string | null;
  readonly evaluatorModelId: string | null;
  /** The hash of the question, as calibrations name it. */
  readonly questionHash: string | null;
  /** The transport and its address, marked if the emulator answered; null without an answer. */
  readonly wire: string | null;
}

/** The answer of `/chat`, in the order of the contract's fields (section 4.6). */
export interface ChatResponse {
  readonly tier: Tier;
  readonly model: string;
  readonly probabilities: Shares;
  readonly confidence: Decision["confidence"];
  /** The contract's name for the decision's time, in whole milliseconds. */
  readonly jevMs: number;
  /** Time of the reply call, in whole milliseconds. */
  readonly replyMs: number;
  /** Empty if the call failed. */
  readonly reply: string;
  readonly replyError: string | null;
  /** Null if the call failed; a null count is unknown. */
  readonly usage: Readonly<
    Record<"inputTokens" | "outputTokens" | "totalTokens", number | null>
  > | null;
}

/** The last event of a stream; its deltas were the reply's text. */
export type ChatOutcome = Omit<ChatResponse, "reply">;
