import {
  type FinishReason,
  generateText,
  type LanguageModel,
  type LanguageModelUsage,
  streamText,
} from "ai";
import type { Redact } from "../security/redactor.ts";
import {
  type GeneratedReply,
  type ReplyPrompt,
  type ReplySettings,
  type TokenMeter,
  toTokenUsage,
} from "./reply.ts";
import { describeReplyFailure, isRefusedModel, isUnbilled, limitOf } from "./reply-failure.ts";
import type { ReplyListener } from "./reply-fetch.ts";

/** Returns the model to ask, which gives its text to the listener where there is one. */
export type OpenModel = (listener: ReplyListener | undefined) => LanguageModel;

/** Who replies, and with what. */
export interface ReplyOptions {
  readonly model: OpenModel;
  /** Ends the call; its reason is thrown. */
  readonly signal: AbortSignal;
  /** Takes secrets out of the reply, or of what its failure says. */
  readonly redact: Redact;
  /** Counts what has to be paid for, whether or not the reply comes to its end. */
  readonly meter: TokenMeter;
  /** Returns the model to ask when the first one is refused; is called at most once. */
  readonly fallback?: (() => OpenModel) | undefined;
  /** Is given the text as it comes; without it, the text comes whole. */
  readonly onDelta?: ((text: string) => void | Promise<void>) | undefined;
  /** Temperature, stop words and the like. @default {} */
  readonly settings?: ReplySettings;
  /** Time for the whole call, retries included, in milliseconds. @default 300000 */
  readonly timeoutMs?: number;
  /** Monotonic time in milliseconds. @default performance.now */
  readonly now?: () => number;
}

/** Generates a reply to the prompt alone; a failure is data. */
export async function generateReply(
  prompt: ReplyPrompt,
  options: ReplyOptions,
): Promise<GeneratedReply> {
  const { redact, meter, now = () => performance.now() } = options;
  const startedAt = now();
  const elapsedMs = () => Math.round(now() - startedAt);
  const deltas = redactDeltas(options);
  try {
    const { text, usage, finishReason } = await askInTurn(prompt, options, deltas?.listener);
    await deltas?.end();
    const tokens = toTokenUsage(usage);
    const given = { reply: redact(text), replyError: null, usage: tokens, limit: null };
    const billed = { usage: tokens, isEstimate: false };
    return { replyMs: elapsedMs(), ...given, billed, finishReason };
  } catch (error) {
    options.signal.throwIfAborted();
    const replyError = redact(describeReplyFailure(error));
    const billed = isUnbilled(error) ? null : meter.billed();
    const failed = { reply: "", replyError, usage: null, finishReason: null };
    return { replyMs: elapsedMs(), ...failed, billed, limit: limitOf(error) };
  }
}

/** Asks the model, and the fallback where the model is refused before its first word. */
async function askInTurn(
  prompt: ReplyPrompt,
  { model, signal, fallback, settings = {}, timeoutMs = 300_000 }: ReplyOptions,
  listener: ReplyListener | undefined,
) {
  const call = { prompt, signal, timeoutMs, settings, isStreamed: listener !== undefined };
  try {
    return await askForText({ ...call, model: model(listener) });
  } catch (error) {
    signal.throwIfAborted();
    if (fallback === undefined || !isRefusedModel(error)) throw error;
    return askForText({ ...call, model: fallback()(listener) });
  }
}

/** Passes a reply's text on without secrets; `end` passes what was held back. */
function redactDeltas({ onDelta, redact, meter }: ReplyOptions) {
  if (onDelta === undefined) return null;
  const pieces = redact.inPieces();
  const listener: ReplyListener = {
    onUsage: meter.setTold,
    onText(text) {
      meter.addText(text);
      const clear = pieces.add(text);
      return clear === "" ? undefined : onDelta(clear);
    },
  };
  const end = async () => {
    const clear = pieces.end();
    if (clear !== "") await onDelta(clear);
  };
  return { listener, end };
}

/** One call of a text model. */
interface TextCall {
  readonly model: LanguageModel;
  readonly prompt: ReplyPrompt;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly settings: ReplySettings;
  /** Whether the model's own listener is given the text as it comes; else it comes whole. */
  readonly isStreamed: boolean;
}

/** What a text model gave. */
interface GivenText {
  /** Empty where it was streamed. */
  readonly text: string;
  readonly usage: LanguageModelUsage;
  readonly finishReason: FinishReason;
}

/** Asks a text model, and throws what it threw. */
async function askForText(call: TextCall): Promise<GivenText> {
  const { model, prompt, signal, timeoutMs, settings, isStreamed } = call;
  const input =
    typeof prompt === "string"
      ? { prompt }
      : { messages: [...prompt], allowSystemInMessages: true };
  const options = { ...settings, ...input, model, abortSignal: signal, timeout: timeoutMs };
  if (!isStreamed) return generateText(options);
  return untilFinished(streamText({ ...options, onError: () => undefined }).fullStream);
}

async function untilFinished(
  parts: ReturnType<typeof streamText>["fullStream"],
): Promise<GivenText> {
  for await (const part of parts) {
    if (part.type === "error") throw part.error;
    if (part.type === "abort") throw new DOMException("The reply was cut short.", "TimeoutError");
    if (part.type === "finish") {
      return { text: "", usage: part.totalUsage, finishReason: part.finishReason };
    }
  }
  throw new Error("The reply model's stream ended before its reply did.");
}
