import {
  type FinishReason,
  generateText,
  type LanguageModel,
  type LanguageModelCallOptions,
  type LanguageModelUsage,
  type ModelMessage,
  streamText,
} from "ai";

/** What a model is asked: one message alone, or a conversation as it was sent. */
export type ReplyPrompt = string | readonly ModelMessage[];

/** One call of a text model. */
export interface TextCall {
  readonly model: LanguageModel;
  readonly prompt: ReplyPrompt;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Temperature, stop words and the like; none means the model's own. */
  readonly settings: Partial<LanguageModelCallOptions>;
  /** Is given each piece of the text as it comes; without it, the text comes whole. */
  readonly onDelta: ((text: string) => void | Promise<void>) | undefined;
}

/** What a text model gave. */
export interface GivenText {
  readonly text: string;
  readonly usage: LanguageModelUsage;
  readonly finishReason: FinishReason;
}

/** Asks a text model, and throws what it threw. */
export async function askForText(call: TextCall): Promise<GivenText> {
  const { model, prompt, signal, timeoutMs, settings, onDelta } = call;
  const input =
    typeof prompt === "string"
      ? { prompt }
      : { messages: [...prompt], allowSystemInMessages: true };
  const options = { ...settings, ...input, model, abortSignal: signal, timeout: timeoutMs };
  if (onDelta === undefined) return generateText(options);
  return readStream(streamText({ ...options, onError: () => undefined }).fullStream, onDelta);
}

async function readStream(
  parts: ReturnType<typeof streamText>["fullStream"],
  onDelta: (text: string) => void | Promise<void>,
): Promise<GivenText> {
  let text = "";
  for await (const part of parts) {
    if (part.type === "error") throw part.error;
    if (part.type === "abort") throw new DOMException("The reply was cut short.", "TimeoutError");
    if (part.type === "finish") {
      return { text, usage: part.totalUsage, finishReason: part.finishReason };
    }
    if (part.type !== "text-delta") continue;
    text += part.text;
    await onDelta(part.text);
  }
  throw new Error("The reply model's stream ended before its reply did.");
}
