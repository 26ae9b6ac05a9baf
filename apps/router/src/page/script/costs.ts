import type { ChatOutcome } from "../../chat/chat-response.ts";
import type { Decision } from "../../decision/decision.ts";
import { costOf } from "../../prices/cost-of.ts";

/** What one message cost, and what it would have cost, in US dollars; null where not known. */
export interface Costs {
  /** The decision and the reply. */
  readonly paid: number | null;
  /** The same tokens at the frontier tier's price, without a decision. */
  readonly frontier: number | null;
}

/** The costs of a message that was replied to. */
export function costsOf({ costUsd, prices }: Decision, { usage }: ChatOutcome): Costs {
  const reply = costOf(usage, prices.model);
  const paid = costUsd === null || reply === null ? null : costUsd + reply;
  return { paid, frontier: costOf(usage, prices.frontier) };
}
