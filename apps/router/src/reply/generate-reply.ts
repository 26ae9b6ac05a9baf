import type { Clock } from "evaluator-client";
import type { Conversation } from "../conversation/conversation.ts";
import type { SignatureMemory } from "../conversation/signatures.ts";
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
  const call = { clock: systemClock, random: Math.random, ...options, conversation };
  const startedAtMs = call.clock.now();
  const { end, failed } = await askInTurn({ ...call, startedAtMs });
  const { replyError = null, failure = null, httpError = null, isUnbilled = false } = failed ?? {};
  const replyMs = Math.round(call.clock.now() - startedAtMs);
  const billed = isUnbilled ? null : billedTokens(call.meter, conversation);
  return { replyMs, replyError, failure, httpError, end, billed };
}

const systemClock: Clock = {
  now: () => performance.now(),
  epochNow: () => Date.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

type Call = Required<Pick<ReplyOptions, "clock" | "random">> &
  ReplyOptions & { readonly conversation: Conversation; readonly startedAtMs: number };

interface Outcome {
  readonly end: ReplyEnd | null;
  /** Null if the reply succeeded. */
  readonly failed: Failure | null;
  /** Whether the client has received a part of the reply. */
  readonly hasBegun: boolean;
}

/** Asks one target after the other; only the last is asked again after a temporary failure. */
async function askInTurn(call: Call): Promise<Outcome> {
  const { plan, onNext, clock, signal } = call;
  let [target, ...later] = plan.targets;
  for (let retries = 0; ;) {
    const outcome = await ask(target, call);
    const { failed, hasBegun } = outcome;
    const [next, ...rest] = later;
    if (failed === null || hasBegun || (next && failed.cause === null)) return outcome;
    if (next && failed.cause !== null) {
      onNext?.(next, failed.cause);
      [target, later] = [next, rest];
      continue;
    }
    const delayMs = retryDelayMs(failed, { ...call, retries });
    if (delayMs === null || delayMs >= (leftMsOf(call) ?? Infinity)) return outcome;
    await sleep(delayMs, { clock, signal });
    retries += 1;
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
  { retries, plan, clock, random }: Call & { readonly retries: number },
): number | null {
  if (!isTemporary || retries >= plan.maxRetries) return null;
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
  const { signal, redact, plan } = call;
  const { idleTimeoutMs } = plan;
  const attempt = new Attempt({ ...call, idleTimeoutMs, leftMs: leftMsOf(call) });
  try {
    return { end: await receive(target, call, attempt), failed: null, hasBegun: true };
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
  const { model, upstream } = target;
  const { passed, meter, signatures, headers = {} } = call;
  if (upstream.post !== null && upstream.type === passed?.upstreamType) {
    await passRequest({ model, post: upstream.post }, passed, { ...call, attempt, headers });
    return { finishReason: "other", usage: meter.reported ?? noUsage };
  }
  if (passed?.unsupported) throw passed.unsupported;
  const pieces = new ReplyPieces({ ...call, onSigned: (part) => signatures?.keep(part, model) });
  const conversation = signatures?.restore(call.conversation, model) ?? call.conversation;
  const options = toCallOptions(conversation, upstream.type);
  const { signal: abortSignal } = attempt;
  await askModel(target, { ...options, headers, abortSignal }, { attempt, pieces });
  return pieces.end();
}
