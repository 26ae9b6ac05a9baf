import { UnfitCalibrationError } from "../decision/decide.ts";
import type { Decision } from "../decision/decision.ts";
import type { Tier } from "../decision/tier-question.ts";
import type { Reply } from "../reply/reply.ts";
import { type BilledTokens, costOf } from "../reply/tokens.ts";

/** The origin of a message. */
export interface CallOrigin {
  /** The router that answered, if several share a limit. */
  readonly instance: string;
  readonly requestId: string;
  readonly endpoint: "chat" | "decide" | "openai";
}

/** One message in the decision log: ids, shares, times and costs, never its text. */
export type MessageRecord = ReturnType<typeof toMessageRecord>;

/** Feedback on the tier of one message. */
export interface FeedbackRecord {
  /** ISO 8601. */
  readonly time: string;
  readonly instance: string;
  readonly requestId: string;
  /** The tier that would have been right. */
  readonly feedback: Tier;
}
export type Observe = (record: MessageRecord) => void;

/** The end of a message. */
export interface MessageEnd {
  readonly outcome: "replied" | "decided" | "reply-failed" | "no-decision" | "stopped";
  /** The error that left no decision. */
  readonly failure?: Error;
  readonly decision?: Decision;
  readonly reply?: Reply;
  /** The tokens to pay for, whole reply or not. */
  readonly billed?: BilledTokens | null;
  /** The decision of `auto` if another model replied. */
  readonly auto?: Decision | null;
}

/** Returns the record of a message's end. */
export function toMessageRecord(origin: CallOrigin, end: MessageEnd) {
  const { outcome, failure, decision, reply, billed, auto } = end;
  const chosen = auto ?? decision; // tier, model and cause are those of the reply
  const asked = failure instanceof UnfitCalibrationError ? failure.evaluation : chosen;
  const usage = billed?.usage ?? null;
  const shadow = auto && {
    tierUsed: auto.tierUsed,
    model: auto.model,
    cause: auto.cause,
    replyCostUsd: costOf(usage, auto.prices.model),
  };
  return {
    time: new Date().toISOString(),
    ...origin,
    outcome,
    /** The error's name if there is no decision, such as `TimeoutError`. */
    failure: failure?.name ?? null,
    evaluationId: asked?.evaluationId ?? null,
    evaluatorModelId: asked?.evaluatorModelId ?? null,
    questionHash: asked?.questionHash ?? null,
    wire: asked?.wire ?? null,
    decisionMs: asked?.decisionMs ?? null,
    decisionCostUsd: asked?.costUsd ?? null,
    tierChosen: chosen?.tierChosen ?? null,
    tierUsed: decision?.tierUsed ?? null,
    cause: decision?.cause ?? null,
    model: decision?.model ?? null,
    probabilities: chosen?.probabilities ?? null,
    printedProbabilities: chosen?.printedProbabilities ?? null,
    confidence: chosen?.confidence ?? null,
    replyMs: reply?.replyMs ?? null,
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    /** Whether the tokens and costs are an estimate, as the service reported none. */
    isEstimate: billed?.isEstimate ?? false,
    // Prices in US dollars, null if unknown; the frontier tier's is for the same tokens.
    replyCostUsd: costOf(usage, decision?.prices.model ?? null),
    frontierCostUsd: costOf(usage, decision?.prices.frontier ?? null),
    /** The decision of `auto` if ROUTER_SHADOW's model replied, with its price of the same tokens. */
    shadow: shadow ?? null,
  };
}
