import type { ChatOutcome, ChatResponse } from "./chat-response.ts";
import type { Answer } from "./message-router.ts";

const noShares = { nano: 0, fast: 0, balanced: 0, frontier: 0 };

/**
 * The nine fields of the contract, whatever the policy did. Where the evaluation failed and the
 * policy named a tier, that tier stands for the choice, and no tier has a share.
 */
export function toChatResponse({ decision, reply }: Answer): ChatResponse {
  return {
    tier: decision.tierChosen ?? decision.tierUsed,
    model: decision.model,
    probabilities: decision.probabilities ?? noShares,
    confidence: decision.confidence,
    jevMs: decision.jevMs,
    replyMs: reply.replyMs,
    reply: reply.reply,
    replyError: reply.replyError,
    usage: reply.usage,
  };
}

/** The same fields without the reply's text. */
export function toChatOutcome(answer: Answer): ChatOutcome {
  const { reply: _, ...outcome } = toChatResponse(answer);
  return outcome;
}
