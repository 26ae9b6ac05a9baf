import type { Tier } from "../tier-question.ts";

/** Tokens of one reply; null where the model does not say. */
export interface TokenUsage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly totalTokens: number | null;
}

/** What the reply model gave, or how it failed. */
export interface Reply {
  /** Time of the reply call, in whole milliseconds. */
  readonly replyMs: number;
  /** The reply's text; empty when the call failed. */
  readonly reply: string;
  /** Why the call failed, or null. */
  readonly replyError: string | null;
  /** Tokens of the reply call; null when it failed. */
  readonly usage: TokenUsage | null;
}

/** The answer to one message, in the order of the contract's fields (section 4.6). */
export interface ChatResponse extends Reply {
  /** The evaluation model's choice. */
  readonly tier: Tier;
  /** The text model that answered; unless the policy says else, the one configured for that tier. */
  readonly model: string;
  /** Probability of each tier, 0..1. */
  readonly probabilities: Readonly<Record<Tier, number>>;
  /** Confidence of the choice, 0..1, or null when not given. */
  readonly confidence: number | null;
  /** Time of the evaluation call, in whole milliseconds. */
  readonly jevMs: number;
}
