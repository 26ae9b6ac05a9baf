import type { FinishReason } from "ai";

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
  /** The reply's text; empty when the call failed, and when the text was streamed. */
  readonly reply: string;
  /** Why the call failed, or null. */
  readonly replyError: string | null;
  /** Tokens of the reply call; null when it failed. */
  readonly usage: TokenUsage | null;
}

/** The tokens a reply has to be paid for, whole or not. */
export interface BilledTokens {
  readonly usage: TokenUsage;
  /** Whether the gateway told none, and they are estimated from the lengths of the texts. */
  readonly isEstimate: boolean;
}

/** A rate limit of the reply model. */
export interface ReplyLimit {
  /** The service's `Retry-After`, or null where it says none. */
  readonly retryAfter: string | null;
}

/** A reply, why it ended, and what it has to be paid for. */
export interface GeneratedReply extends Reply {
  /** Null when the call failed. */
  readonly finishReason: FinishReason | null;
  /** Null when nothing was billed: the model refused the call. */
  readonly billed: BilledTokens | null;
  /** The rate limit that refused the call, or null. */
  readonly limit: ReplyLimit | null;
}
