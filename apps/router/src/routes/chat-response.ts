import type { Reply } from "../reply/reply.ts";
import type { Tier } from "../tier-question.ts";

// Apart from the route, so that the page's script takes the types without the server behind them.

/** The answer to one message, in the order of the contract's fields (section 4.6). */
export interface ChatResponse extends Pick<Reply, "replyMs" | "reply" | "replyError" | "usage"> {
  /** The evaluation model's choice. */
  readonly tier: Tier;
  /** The text model that answered; unless the policy says else, the one configured for that tier. */
  readonly model: string;
  /** Probability of each tier, 0..1. */
  readonly probabilities: Readonly<Record<Tier, number>>;
  /** Confidence of the choice, 0..1, or null when not given. */
  readonly confidence: number | null;
  /** Time of the evaluation call, in whole milliseconds; the contract's name for the decision's time. */
  readonly jevMs: number;
}

/** What ends an event stream: all but the reply's text, which the deltas have brought already. */
export type ChatOutcome = Omit<ChatResponse, "reply">;
