import type { Reply } from "../reply/reply.ts";
import { UnfitCalibrationError } from "../decision/decide.ts";
import type { AskedEvaluation, Cause, Decision } from "../decision/decision.ts";
import { type BilledTokens, costOf } from "../prices/tokens.ts";
import type { Tier } from "../tier-question.ts";

/** Which endpoint a message came to. */
export type Endpoint = "chat" | "decide" | "openai";

/** How a message ended. */
export type Outcome = "replied" | "decided" | "reply-failed" | "no-decision" | "stopped";

/** Who asked, and where. */
export interface CallOrigin {
  /** Which router answered, where several share a limit. */
  readonly instance: string;
  readonly requestId: string;
  readonly endpoint: Endpoint;
}

/** What happened to one message: ids, shares, times and costs, never its text. */
export interface MessageRecord extends CallOrigin {
  /** When it ended, in ISO 8601. */
  readonly time: string;
  readonly outcome: Outcome;
  /** The kind of error that left no decision, such as `TimeoutError`, or null. */
  readonly failure: string | null;
  readonly evaluationId: string | null;
  readonly evaluatorModelId: string | null;
  readonly questionHash: string | null;
  readonly wire: string | null;
  readonly tierChosen: Tier | null;
  readonly tierUsed: Tier | null;
  readonly cause: Cause | null;
  readonly model: string | null;
  readonly probabilities: Decision["probabilities"];
  readonly printedProbabilities: Decision["printedProbabilities"];
  readonly confidence: number | null;
  readonly decisionMs: number | null;
  readonly replyMs: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** Whether the tokens, and so the costs, are an estimate: the gateway named none. */
  readonly isEstimate: boolean;
  /** Price of the evaluation in US dollars, or null when not known. */
  readonly decisionCostUsd: number | null;
  /** Price of the reply in US dollars, or null when not known. */
  readonly replyCostUsd: number | null;
  /** What the frontier tier's model would have asked for the same tokens, or null. */
  readonly frontierCostUsd: number | null;
  /** What `auto` would have done, where ROUTER_SHADOW's model replied; else null. */
  readonly shadow: ShadowedDecision | null;
}

/** What the evaluation model would have done, where another model replied in its place. */
interface ShadowedDecision {
  readonly tierUsed: Tier | null;
  readonly model: string;
  readonly cause: Cause;
  /** Price that its model would have asked for the same tokens, in US dollars, or null. */
  readonly replyCostUsd: number | null;
}

/** What somebody said of one message's tier. */
export interface FeedbackRecord {
  /** When it was said, in ISO 8601. */
  readonly time: string;
  readonly instance: string;
  readonly requestId: string;
  /** The tier that would have been right. */
  readonly feedback: Tier;
}

/** Called with what happened to each message. */
export type Observe = (record: MessageRecord) => void;

/** Returns the end of a message that no tier was chosen for. */
export function recordOfFailure(origin: CallOrigin, outcome: Outcome, error: Error): MessageRecord {
  return {
    time: new Date().toISOString(),
    ...origin,
    outcome,
    failure: error.name,
    ...decisionPart(null),
    ...evaluationPart(error instanceof UnfitCalibrationError ? error.evaluation : null),
    ...replyPart(null, {}),
    shadow: null,
  };
}

/** How a message that was decided ended. */
export interface MessageEnd {
  readonly outcome: Outcome;
  /** The reply, or how it failed; none when it was not asked for, or stopped. */
  readonly reply?: Reply;
  /** What the reply has to be paid for, whole or not. @default nothing */
  readonly billed?: BilledTokens | null;
  /** What `auto` would have done. @default nothing: it did */
  readonly auto?: Decision | null;
}

/** Returns the end of a message that was decided, and perhaps replied to. */
export function recordOf(origin: CallOrigin, decision: Decision, end: MessageEnd): MessageRecord {
  return {
    time: new Date().toISOString(),
    ...origin,
    outcome: end.outcome,
    failure: null,
    ...decisionPart(end.auto == null ? decision : withReplier(end.auto, decision)),
    ...replyPart(decision, end),
    shadow: shadowOf(end),
  };
}

/** The evaluation was `auto`'s; tier, model and cause are those of who replied. */
function withReplier(auto: Decision, { tierUsed, model, cause }: Decision): Decision {
  return { ...auto, tierUsed, model, cause };
}

function shadowOf({ auto, billed }: MessageEnd): ShadowedDecision | null {
  if (auto === null || auto === undefined) return null;
  const { tierUsed, model, cause, prices } = auto;
  return { tierUsed, model, cause, replyCostUsd: costOf(billed?.usage ?? null, prices.model) };
}

function decisionPart(decision: Decision | null) {
  return {
    ...evaluationPart(decision),
    tierChosen: decision?.tierChosen ?? null,
    tierUsed: decision?.tierUsed ?? null,
    cause: decision?.cause ?? null,
    model: decision?.model ?? null,
    probabilities: decision?.probabilities ?? null,
    printedProbabilities: decision?.printedProbabilities ?? null,
    confidence: decision?.confidence ?? null,
  };
}

function evaluationPart(asked: AskedEvaluation | null) {
  return {
    evaluationId: asked?.evaluationId ?? null,
    evaluatorModelId: asked?.evaluatorModelId ?? null,
    questionHash: asked?.questionHash ?? null,
    wire: asked?.wire ?? null,
    decisionMs: asked?.decisionMs ?? null,
    decisionCostUsd: asked?.costUsd ?? null,
  };
}

function replyPart(decision: Decision | null, { reply, billed }: Partial<MessageEnd>) {
  const usage = billed?.usage ?? null;
  return {
    replyMs: reply?.replyMs ?? null,
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    isEstimate: billed?.isEstimate ?? false,
    replyCostUsd: costOf(usage, decision?.prices.model ?? null),
    frontierCostUsd: costOf(usage, decision?.prices.frontier ?? null),
  };
}
