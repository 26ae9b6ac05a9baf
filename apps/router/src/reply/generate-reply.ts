import type { Clock } from "evaluator-client";
import { pause, systemClock } from "evaluator-kit";
import type { Conversation } from "../conversation/conversation.ts";
import { withCacheMarks } from "../conversation/cache-marks.ts";
import type { createSignatureMemory } from "../conversation/signatures.ts";
import { toCallOptions } from "../conversation/to-call-options.ts";
import { type UpstreamType, upstreamTypes } from "../conversation/upstream-types.ts";
import { askModel } from "./ask-model.ts";
import { withChatMarks } from "./chat-marks.ts";
import { nearestEffort } from "./efforts.ts";
import { passRequest } from "./pass-request.ts";
import { refusalBy, takesBody } from "./passed-request.ts";
import { Attempt } from "./attempt.ts";
import type { Redact } from "./redactor.ts";
import { retryAfterMs, TOO_LONG, toReplyFailure } from "./reply-failure.ts";
import { type ReplyEnd, ReplyLimitError, type ReplyListener } from "./reply-piece.ts";
import { ReplyPieces } from "./reply-pieces.ts";
import type { ReplyPlan, Target } from "./upstream.ts";
import { billedTokens } from "./billed-tokens.ts";
import { type BilledTokens, noUsage, listSearches, type TokenMeter } from "./usage.ts";

/** The plan of a reply, its listener and its limits. */
export interface ReplyOptions {
  readonly plan: ReplyPlan;
  readonly listener: ReplyListener;
  /** Ends the call; its reason is thrown. */
  readonly signal: AbortSignal;
  readonly redact: Redact;
  /** Counts the tokens to pay for, also of a reply that does not end. */
  readonly meter: TokenMeter;
  /** The client's request, for upstreams of the same API. */
  readonly passed: Parameters<typeof passRequest>[1] | null;
  readonly signatures?: ReturnType<typeof createSignatureMemory>;
  /** Adapts a conversation to the type of its service, after the signatures. */
  readonly toService?:
    | ((givenConversation: Conversation, upstreamType: UpstreamType) => Conversation)
    | undefined;
  /** Whether conversations without marks get some for the caches of Anthropic's models. @default false */
  readonly marksCaches?: boolean;
  readonly onWarnings?: ConstructorParameters<typeof ReplyPieces>[0]["onWarnings"];
  /** Whether its listener needs no piece before the end. @default false */
  readonly isWhole?: boolean | undefined;
  /** Ids for the upstream. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Called before a target is asked after a failure; its cause is null if it is the same target. False
   * ends the reply.
   */
  readonly onNext?: (
    target: Target,
    failure: Pick<ReplyFailure, "cause" | "maybeBilled">,
  ) => Promise<boolean>;
  /** Called at the end of each call of a model; null is a reply. */
  readonly onEnd?: (target: Target, replyFailure: ReplyFailure | null) => void;
  /** @default the machine's own clock */
  readonly clock?: Clock;
  /** Returns a number from 0 to 1. @default Math.random */
  readonly random?: () => number;
}

/** The failure of a reply call. */
export type ReplyFailure = ReturnType<typeof toReplyFailure>;

/** The end of a reply, or its failure. */
export interface GeneratedReply extends Pick<ReplyFailure, "failure" | "httpError"> {
  /** Time of the reply call, in whole milliseconds. */
  readonly replyMs: number;
  readonly replyError: string | null;
  /** Null if the call failed. */
  readonly end: ReplyEnd | null;
  /** Null if the service rejected the call or was not reached, which costs nothing. */
  readonly billedTokens: BilledTokens | null;
}

/** Generates a reply to a conversation; a failure is data. @throws the signal's reason */
export async function generateReply(
  conversation: Conversation,
  options: ReplyOptions,
): Promise<GeneratedReply> {
  const { clock = systemClock, random = Math.random, meter, plan } = options;
  const startedAtMs = clock.now();
  const endsAtMs = startedAtMs + (plan.timeoutMs || Infinity);
  const finalOutcome = await askInTurn({ ...options, clock, random, conversation, endsAtMs });
  const { end, replyFailure: failedReply, isCut = false } = finalOutcome;
  const { replyError = null, failure = null, httpError = null } = failedReply ?? {};
  const isFree = failedReply?.maybeBilled === false && meter.reported === null;
  const isWhole = end !== null && !isCut;
  return {
    replyMs: Math.round(clock.now() - startedAtMs),
    replyError,
    failure,
    httpError,
    end,
    billedTokens: isFree ? null : billedTokens(meter, conversation, { isWhole }),
  };
}

interface Call extends ReplyOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly conversation: Conversation;
  /** Infinite without a limit. */
  readonly endsAtMs: number;
}

/** One of the two is null. */
interface Outcome {
  readonly end: ReplyEnd | null;
  readonly replyFailure: ReplyFailure | null;
  /** Whether its listener ended the reply, so that a report came before its last words. */
  readonly isCut?: boolean;
}

/** Asks one target after the other; only the last is asked again after a temporary failure. */
async function askInTurn(call: Call): Promise<Outcome> {
  let [target, ...later] = call.plan.targets;
  for (let retries = 0; ;) {
    const outcome = await ask(target, call);
    const { replyFailure: failedReply } = outcome;
    call.onEnd?.(target, failedReply);
    if (failedReply === null) return outcome;
    if (later.length > 0) {
      const failedTarget = target;
      const nextIndex = later.findIndex((each) => isForNext(failedReply, failedTarget, each));
      const nextTarget = later[nextIndex];
      if (nextTarget === undefined) return outcome;
      if ((await call.onNext?.(nextTarget, failedReply)) === false) return outcome;
      [target, later] = [nextTarget, later.slice(nextIndex + 1)];
      continue;
    }
    const retryMs = retryDelayMs(failedReply, retries, call);
    if (retryMs === null) return outcome;
    await pause(retryMs, call);
    call.signal.throwIfAborted();
    if ((await call.onNext?.(target, { ...failedReply, cause: null })) === false) return outcome;
    retries += 1;
  }
}

/** A service refuses its key for all its models, and a shorter window cannot hold more. */
function isForNext(
  { cause, httpError }: ReplyFailure,
  failedTarget: Target,
  next: Target,
): boolean {
  if (httpError?.status === 401 && next.upstream.name === failedTarget.upstream.name) return false;
  const [window = 0, nextWindow = Infinity] = [failedTarget, next].map(
    ({ capabilities }) => capabilities?.contextWindow,
  );
  return cause !== null && (httpError?.code !== TOO_LONG || nextWindow > window);
}

const FIRST_DELAY_MS = 2000;
const LONGEST_DELAY_MS = 60_000;

/** Returns the delay before the next attempt, or null for none. */
function retryDelayMs(
  { isTemporary, httpError }: ReplyFailure,
  retries: number,
  { plan, clock, random, endsAtMs }: Call,
): number | null {
  if (!isTemporary || retries >= plan.maxRetries) return null;
  const ownMs = Math.min(FIRST_DELAY_MS * 2 ** retries, LONGEST_DELAY_MS) * (0.5 + random() / 2);
  const retryAfter = httpError?.retryAfter ?? null;
  const delayMs = retryAfter === null ? ownMs : retryAfterMs(retryAfter, clock.epochNow());
  const isShort = delayMs <= LONGEST_DELAY_MS && delayMs < endsAtMs - clock.now();
  return isShort ? Math.max(0, delayMs) : null;
}

async function ask(target: Target, replyCall: Call): Promise<Outcome> {
  const { signal, redact, plan, meter, conversation } = replyCall;
  meter.tokensPerFile = target.price?.tokensPerFile;
  const attempt = new Attempt({ ...replyCall, idleTimeoutMs: plan.idleTimeoutMs });
  meter.isSent = !signal.aborted;
  try {
    return { end: await receive(target, replyCall, attempt), replyFailure: null };
  } catch (error) {
    attempt.abort();
    signal.throwIfAborted();
    if (error instanceof ReplyLimitError) {
      const { usage } = billedTokens(meter, conversation);
      return { end: { finishReason: "length", usage }, replyFailure: null, isCut: true };
    }
    const service = target.upstream;
    const failedReply = toReplyFailure(error, redact, { service, limit: attempt.limit });
    const isFinal = attempt.hasBegun;
    meter.isSent = failedReply.maybeBilled || isFinal;
    const finalFailure = { ...failedReply, cause: null, isTemporary: false, maybeBilled: true };
    return { end: null, replyFailure: isFinal ? finalFailure : failedReply };
  } finally {
    attempt.end();
  }
}

/** Receives a reply in the client's API or as pieces. */
async function receive(givenTarget: Target, call: Call, attempt: Attempt): Promise<ReplyEnd> {
  const { marksOf } = upstreamTypes[givenTarget.upstream.type];
  const cacheMarks = call.marksCaches === true ? marksOf(givenTarget.model) : null;
  const target = cacheMarks === "body" ? withChatMarks(givenTarget) : givenTarget;
  const { passed: passedRequest, meter, signatures, headers = {} } = call;
  meter.askedUsage = listSearches(target.model);
  let askedTarget = target;
  if (passedRequest !== null && takesBody(target.upstream, passedRequest)) {
    const upstream = await passRequest(target, passedRequest, { ...call, attempt, headers });
    if (upstream === null) return { finishReason: "other", usage: meter.reported ?? noUsage };
    askedTarget = { ...target, upstream };
  } else if (passedRequest?.unsupported)
    throw refusalBy([target.upstream.name], passedRequest.unsupported);
  const { model, upstream } = askedTarget;
  const pieces = new ReplyPieces({ ...call, onSigned: (part) => signatures?.keep(part, model) });
  const signedConversation = signatures?.restore(call.conversation, model) ?? call.conversation;
  const conversation = call.toService?.(signedConversation, upstream.type) ?? signedConversation;
  const options = toCallOptions(
    cacheMarks === "conversation" ? withCacheMarks(conversation) : conversation,
    upstream.type,
  );
  const mostTokens = target.capabilities?.maxOutputTokens ?? Infinity;
  if ((options.maxOutputTokens ?? 0) > mostTokens) options.maxOutputTokens = mostTokens;
  const { reasoning } = options;
  const effortField = reasoning && { reasoning: nearestEffort(reasoning, target.capabilities) };
  const fullOptions = { ...options, ...effortField, headers };
  await askModel(askedTarget, fullOptions, { attempt, pieces });
  return pieces.end();
}
