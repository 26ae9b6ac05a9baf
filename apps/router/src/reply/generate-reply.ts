import {
  type FinishReason,
  generateText,
  type LanguageModel,
  type LanguageModelUsage,
  streamText,
} from "ai";
import { type TokenMeter, toTokenUsage } from "../prices/tokens.ts";
import type { Redact } from "../security/redactor.ts";
import {
  type GeneratedReply,
  type ReplyForm,
  type ReplyPrompt,
  type ReplySettings,
  type ToolCall,
  type ToolCallDelta,
} from "./reply.ts";
import { describeReplyFailure, failureOfModel, isUnbilled, httpErrorOf } from "./reply-failure.ts";
import type { ReplyListener } from "./reply-fetch.ts";
import { createToolCallStream, inForm } from "./tool-calls.ts";

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
  /** The models to ask in turn when one is rejected or fails before its first word. @default none */
  readonly chain?: readonly OpenModel[];
  /** Called when the first or next of the chain is asked, with the cause. */
  readonly onNext?: ((index: number, cause: "model-refused" | "model-failed") => void) | undefined;
  /** Called with the text as it comes; without it, the text comes whole. */
  readonly onDelta?: ((text: string) => void | Promise<void>) | undefined;
  /** Called with pieces of tool calls as they come; without it, and `onDelta`, they come whole. */
  readonly onToolCalls?: ((deltas: readonly ToolCallDelta[]) => void | Promise<void>) | undefined;
  /** Headers for the model's service, beside its own. @default none */
  readonly headers?: Record<string, string>;
  /** Temperature, stop words and the like. @default {} */
  readonly settings?: ReplySettings;
  /** Tools and the reply's form. @default text alone */
  readonly form?: ReplyForm;
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
    const given = await askInTurn(prompt, options, deltas);
    await deltas?.end();
    const tokens = toTokenUsage(given.usage);
    const toolCalls = given.toolCalls.map((call) => ({
      ...call,
      arguments: redact(call.arguments),
    }));
    const printed = { reply: redact(given.text), toolCalls, finishReason: given.finishReason };
    const billed = { usage: tokens, isEstimate: false };
    return {
      replyMs: elapsedMs(),
      ...printed,
      replyError: null,
      usage: tokens,
      httpError: null,
      billed,
    };
  } catch (error) {
    options.signal.throwIfAborted();
    const replyError = redact.strictly(describeReplyFailure(error));
    const billed = isUnbilled(error) ? null : meter.billed();
    const failed = { reply: "", toolCalls: [], replyError, usage: null, finishReason: null };
    return { replyMs: elapsedMs(), ...failed, billed, httpError: httpErrorOf(error, redact) };
  }
}

/** Asks the model, and the next of the chain where one is rejected or fails before its first word. */
async function askInTurn(
  prompt: ReplyPrompt,
  options: ReplyOptions,
  deltas: Deltas | null,
): Promise<GivenReply> {
  const { model, signal, chain = [], onNext, timeoutMs = 300_000 } = options;
  const { settings = {}, headers = {}, form } = options;
  const listener = deltas?.listener;
  const isStreamed = listener !== undefined;
  const call = { prompt, signal, timeoutMs, settings, headers, form, isStreamed };
  for (let index = -1; ; index += 1) {
    const isLast = index + 1 >= chain.length;
    try {
      const open = chain[index] ?? model;
      return await askForText({ ...call, model: open(listener), hasRetries: isLast });
    } catch (error) {
      signal.throwIfAborted();
      const cause = failureOfModel(error);
      if (isLast || cause === null || deltas?.hasBegun() === true) throw error;
      onNext?.(index + 1, cause);
    }
  }
}

type Deltas = NonNullable<ReturnType<typeof redactDeltas>>;

/** Passes a reply's pieces on without secrets; `end` passes what was held back. */
function redactDeltas({ onDelta, onToolCalls, redact, meter }: ReplyOptions) {
  if (onDelta === undefined) return null;
  const pieces = redact.inPieces();
  const calls = onToolCalls && createToolCallStream(redact);
  const passOn = (clear: readonly ToolCallDelta[]) =>
    clear.length === 0 ? undefined : onToolCalls?.(clear);
  let hasBegun = false;
  const listener: ReplyListener = {
    onUsage: meter.setUsage,
    onText(text) {
      hasBegun = true;
      meter.addText(text);
      const clear = pieces.add(text);
      return clear === "" ? undefined : onDelta(clear);
    },
    onToolCalls(given) {
      hasBegun = true;
      for (const { text } of given) meter.addText(text);
      return calls && passOn(calls.add(given));
    },
  };
  const end = async () => {
    const clear = pieces.end();
    if (clear !== "") await onDelta(clear);
    if (calls) await passOn(calls.end());
  };
  return { listener, end, hasBegun: () => hasBegun };
}

/** One call of a text model. */
interface TextCall {
  readonly model: LanguageModel;
  readonly prompt: ReplyPrompt;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly settings: ReplySettings;
  readonly headers: Record<string, string>;
  readonly form: ReplyForm | undefined;
  /** Whether the same model is asked again after a passing failure; else the next one is. */
  readonly hasRetries: boolean;
  /** Whether the model's own listener is given the text as it comes; else it comes whole. */
  readonly isStreamed: boolean;
}

/** What a text model gave. */
interface GivenReply {
  /** Empty where it was streamed. */
  readonly text: string;
  /** None where they were streamed. */
  readonly toolCalls: readonly ToolCall[];
  readonly usage: LanguageModelUsage;
  readonly finishReason: FinishReason;
}

/** Asks a text model, and throws what it threw. */
async function askForText(call: TextCall): Promise<GivenReply> {
  const { model, prompt, signal, timeoutMs, settings, headers, form, isStreamed, hasRetries } =
    call;
  const input =
    typeof prompt === "string"
      ? { prompt }
      : { messages: [...prompt], allowSystemInMessages: true };
  const toolCalls: ToolCall[] = [];
  const options = {
    ...settings,
    ...input,
    headers,
    model: form === undefined ? model : inForm(model, form, (called) => toolCalls.push(called)),
    abortSignal: signal,
    timeout: timeoutMs,
    ...(!hasRetries && { maxRetries: 0 }),
  };
  if (isStreamed) {
    return untilFinished(streamText({ ...options, onError: () => undefined }).fullStream);
  }
  const { text, usage, finishReason } = await generateText(options);
  return { text, usage, finishReason, toolCalls };
}

async function untilFinished(
  parts: ReturnType<typeof streamText>["fullStream"],
): Promise<GivenReply> {
  for await (const part of parts) {
    if (part.type === "error") throw part.error;
    if (part.type === "abort") throw new DOMException("The reply was cut short.", "TimeoutError");
    if (part.type === "finish") {
      const { totalUsage: usage, finishReason } = part;
      return { text: "", toolCalls: [], usage, finishReason };
    }
  }
  throw new Error("The reply model's stream ended before its reply did.");
}
