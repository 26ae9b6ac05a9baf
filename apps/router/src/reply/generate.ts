import type { Clock } from "evaluator-client";
import type { Conversation } from "../conversation/conversation.ts";
import type { SignatureMemory, SignedPart } from "../conversation/signatures.ts";
import { toCallOptions } from "../conversation/to-call-options.ts";
import { HttpError } from "../http-error.ts";
import { askModel } from "./ask-model.ts";
import { Attempt } from "./attempt.ts";
import { type PassedRequest, passRequest } from "./pass-request.ts";
import type { Redact } from "./redactor.ts";
import { toReplyFailure } from "./reply-failure.ts";
import type { ReplyListener } from "./reply-listener.ts";
import type { ReplyEnd } from "./reply-piece.ts";
import { ReplyPieces } from "./reply-pieces.ts";
import type { ReplyPlan, Target } from "./upstream.ts";
import { type BilledTokens, billedTokens, noUsage, type TokenMeter } from "./usage.ts";

/** How to ask, and where the reply goes. */
export interface ReplyOptions {
  readonly plan: ReplyPlan;
  readonly listener: ReplyListener;
  /** Ends the call; its reason is thrown. */
  readonly signal: AbortSignal;
  readonly redact: Redact;
  /** Counts the tokens to pay for, also of a reply that does not end. */
  readonly meter: TokenMeter;
  /** The client's request, for upstreams of the same API. */
  readonly passed: PassedRequest | null;
  readonly signatures?: SignatureMemory;
  /** Ids for the upstream. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Called before the next target is asked, with the cause. */
  readonly onNext?: (target: Target, cause: "model-refused" | "model-failed") => void;
  /** @default the machine's own clock */
  readonly clock?: Clock;
  /** Returns a number from 0 to 1. @default Math.random */
  readonly random?: () => number;
}

type Failure = ReturnType<typeof toReplyFailure>;

/** The end of a reply, or its failure. */
export interface GeneratedReply {
  /** Time of the reply call, in whole milliseconds. */
  readonly replyMs: number;
  readonly replyError: string | null;
  /** The time limit that ended the call. */
  readonly failure: Failure["failure"];
  readonly httpError: Failure["httpError"];
  /** Null if the call failed. */
  readonly end: ReplyEnd | null;
  /** Null if the service rejected the call, which costs nothing. */
  readonly billed: BilledTokens | null;
}

/** Generates a reply to a conversation; a failure is data. @throws the signal's reason, HttpError */
export async function generateReply(
  conversation: Conversation,
  options: ReplyOptions,
): Promise<GeneratedReply> {
  const { meter, clock = systemClock, random = Math.random } = options;
  const startedAtMs = clock.now();
  const call = { ...options, conversation, clock, random, startedAtMs };
  const { end, failed } = await askInTurn(call);
  return {
    replyMs: Math.round(clock.now() - startedAtMs),
    replyError: failed?.replyError ?? null,
    failure: failed?.failure ?? null,
    httpError: failed?.httpError ?? null,
    end,
    billed: failed?.isUnbilled === true ? null : billedTokens(meter, conversation),
  };
}

const systemClock: Clock = {
  now: () => performance.now(),
  epochNow: () => Date.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

interface Call extends ReplyOptions {
  readonly conversation: Conversation;
  readonly clock: Clock;
  readonly random: () => number;
  readonly startedAtMs: number;
}

type Outcome =
  | { readonly end: ReplyEnd; readonly failed: null }
  | { readonly end: null; readonly failed: Failure; readonly hasBegun: boolean };

async function askInTurn(call: Call): Promise<Outcome> {
  const { targets } = call.plan;
  let target: Target = targets[0];
  for (const next of targets.slice(1)) {
    const outcome = await ask(target, call);
    if (outcome.failed === null || outcome.hasBegun || outcome.failed.cause === null)
      return outcome;
    call.onNext?.(next, outcome.failed.cause);
    target = next;
  }
  return askAgain(target, call);
}

/** Asks the last target, which is asked again after a temporary failure. */
async function askAgain(target: Target, call: Call): Promise<Outcome> {
  const { plan, clock, random, signal } = call;
  for (let retries = 0; ; retries += 1) {
    const outcome = await ask(target, call);
    if (outcome.failed === null || outcome.hasBegun || retries >= plan.maxRetries) return outcome;
    const delayMs = retryDelayMs(outcome.failed, { retries, clock, random });
    if (delayMs === null || delayMs >= (leftMsOf(call) ?? Infinity)) return outcome;
    await sleep(delayMs, { clock, signal });
  }
}

/** Time that is left for the reply; null without a limit. */
function leftMsOf({ plan, clock, startedAtMs }: Call): number | null {
  return plan.timeoutMs === 0 ? null : startedAtMs + plan.timeoutMs - clock.now();
}

const FIRST_DELAY_MS = 2000;
const LONGEST_DELAY_MS = 60_000;

/** Returns the delay before the next attempt, or null for none. */
function retryDelayMs(
  { isTemporary, httpError }: Failure,
  { retries, clock, random }: Pick<Call, "clock" | "random"> & { readonly retries: number },
): number | null {
  if (!isTemporary) return null;
  const asked = httpError?.retryAfter ?? null;
  if (asked === null) return FIRST_DELAY_MS * 2 ** retries * (0.5 + random() / 2);
  const seconds = Number(asked);
  const delayMs = Number.isNaN(seconds) ? Date.parse(asked) - clock.epochNow() : seconds * 1000;
  return delayMs <= LONGEST_DELAY_MS ? Math.max(0, delayMs) : null;
}

function sleep(delayMs: number, { clock, signal }: Pick<Call, "clock" | "signal">): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.schedule(delayMs, resolve);
    const onAbort = () => {
      cancel();
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

async function ask(target: Target, call: Call): Promise<Outcome> {
  const { listener, signal, clock, redact, plan } = call;
  const { idleTimeoutMs } = plan;
  const attempt = new Attempt({ listener, signal, clock, idleTimeoutMs, leftMs: leftMsOf(call) });
  try {
    return { end: await receive(target, call, attempt), failed: null };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HttpError) throw error;
    const failed = toReplyFailure(error, redact, {
      service: target.upstream,
      limit: attempt.limit,
    });
    return { end: null, failed, hasBegun: attempt.hasBegun };
  } finally {
    attempt.end();
  }
}

/** Receives a reply in the client's API or as pieces. */
async function receive(target: Target, call: Call, attempt: Attempt): Promise<ReplyEnd> {
  const { upstream, model } = target;
  const { passed, redact, meter, signatures, headers = {} } = call;
  const { post, type } = upstream;
  if (post !== null && type === passed?.api.upstreamType) {
    await passRequest({ post, model }, passed, { attempt, redact, meter, headers });
    return { finishReason: "other", usage: meter.reported ?? noUsage };
  }
  if (passed?.request.unsupported) throw passed.request.unsupported;
  const onSigned = signatures && ((part: SignedPart) => signatures.keep(part, model));
  const pieces = new ReplyPieces({ redact, meter, onSigned });
  const conversation = signatures?.restore(call.conversation, model) ?? call.conversation;
  const options = { ...toCallOptions(conversation, type), headers, abortSignal: attempt.signal };
  await askModel(target, options, { attempt, pieces });
  return pieces.end();
}
