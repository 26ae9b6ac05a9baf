import { UnfitCalibrationError } from "../decision/decide.ts";
import type { Decision } from "../decision/decision.ts";
import type { GeneratedReply } from "../reply/generate-reply.ts";
import { findBilledCost, type BilledTokens, costElsewhere, findInput } from "../reply/usage.ts";

/** One message in the decision log: ids, shares, times and costs, never its text. */
export type MessageRecord = ReturnType<typeof toMessageRecord>;

interface MessageEnd {
  readonly outcome: "replied" | "decided" | "reply-failed" | "no-decision" | "stopped";
  readonly failure?: Error;
  readonly decision?: Decision;
  readonly reply?: GeneratedReply;
  /** The tokens to pay for, whole reply or not. */
  readonly billedTokens?: BilledTokens | null;
  /** The cost of the attempts before the last one in US dollars; null if unknown. */
  readonly lostUsd?: number | null;
  /** The decision of `auto` if another model replied. */
  readonly auto?: Decision | null;
}

interface RecordedCall {
  readonly requestId: string;
  /** `chat`, `decide` or the name of an API. */
  readonly endpoint: string;
  readonly key: { readonly name: string } | null;
  readonly repairs?: readonly string[];
  readonly budget?: { readonly lostEvaluationsUsd: number } | null;
}

/** Returns the record of a call's message, from the router of this name. */
export function toMessageRecord(
  instance: string,
  { requestId, endpoint, key, repairs = [], budget = null }: RecordedCall,
  messageEnd: MessageEnd,
) {
  const { outcome, failure, decision, reply, billedTokens, auto, lostUsd = 0 } = messageEnd;
  const chosenDecision = auto ?? decision; // tier, model and cause are those of the reply
  const askedEvaluation =
    failure instanceof UnfitCalibrationError ? failure.evaluation : chosenDecision;
  const { lostEvaluationsUsd = 0 } = budget ?? {};
  const usage = billedTokens?.usage ?? null;
  const isLostOnly = !billedTokens && lostUsd !== null && lostUsd > 0;
  const replyUsd = isLostOnly ? 0 : findBilledCost(usage, decision?.prices.model ?? null);
  const shadowFields = auto && {
    tierUsed: auto.tierUsed,
    model: auto.model,
    cause: auto.cause,
    replyCostUsd: costElsewhere(usage, auto.prices.model),
  };
  return {
    time: new Date().toISOString(),
    /** The router that answered, if several share a limit. */
    instance,
    requestId,
    endpoint,
    /** The name of the client's key; null if the router asks for none. */
    key: key && key.name,
    outcome,
    /** The names of the repairs of the history, such as `call-ids`. */
    repairs,
    /** The error's name if there is no decision, such as `TimeoutError`; or the limit that a reply met. */
    failure: failure?.name ?? reply?.failure ?? null,
    evaluationId: askedEvaluation?.evaluationId ?? null,
    evaluatorModelId: askedEvaluation?.evaluatorModelId ?? null,
    questionHash: askedEvaluation?.questionHash ?? null,
    wire: askedEvaluation?.wire ?? null,
    decisionMs: askedEvaluation?.decisionMs ?? null,
    /** With the expected cost of evaluations that were lost before, if the key has a budget. */
    decisionCostUsd:
      typeof askedEvaluation?.costUsd === "number"
        ? askedEvaluation.costUsd + lostEvaluationsUsd
        : null,
    tierChosen: chosenDecision?.tierChosen ?? null,
    tierUsed: decision?.tierUsed ?? null,
    cause: decision?.cause ?? null,
    model: decision?.model ?? null,
    upstream: decision?.upstream ?? null,
    probabilities: chosenDecision?.probabilities ?? null,
    printedProbabilities: chosenDecision?.printedProbabilities ?? null,
    confidence: chosenDecision?.confidence ?? null,
    promise: chosenDecision?.promise ?? null,
    replyMs: reply?.replyMs ?? null,
    /** With cached ones. */
    inputTokens: usage && findInput(usage),
    outputTokens: usage?.output ?? null,
    cacheReadTokens: usage?.cacheRead ?? null,
    cacheWriteTokens: usage?.cacheWrite ?? null,
    /** Part of the output. */
    reasoningTokens: usage?.reasoning ?? null,
    /** Whether the tokens and costs are an estimate, as the service reported none or they contradict each other. */
    isEstimate: (billedTokens?.isEstimate ?? false) || lostUsd !== 0 || lostEvaluationsUsd > 0,
    // Prices in US dollars, null if unknown, with those of lost attempts; the frontier tier's is for the same usage.
    replyCostUsd: replyUsd === null || lostUsd === null ? null : replyUsd + lostUsd,
    frontierCostUsd: costElsewhere(usage, decision?.prices.frontier ?? null),
    /** The decision of `auto` if ROUTER_SHADOW's model replied, with its price of the same tokens. */
    shadow: shadowFields ?? null,
  };
}
