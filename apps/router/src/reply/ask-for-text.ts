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

/** Temperature, stop words and the like; none means the model's own. */
export type ReplySettings = Partial<LanguageModelCallOptions>;

/** One call of a text model. */
export interface TextCall {
  readonly model: LanguageModel;
  readonly prompt: ReplyPrompt;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly settings: ReplySettings;
  /** Whether the model's own listener is given the text as it comes; else it comes whole. */
  readonly isStreamed: boolean;
}

/** What a text model gave. */
export interface GivenText {
  /** Empty where it was streamed. */
  readonly text: string;
  readonly usage: LanguageModelUsage;
  readonly finishReason: FinishReason;
}

/** Asks a text model, and throws what it threw. */
export async function askForText(call: TextCall): Promise<GivenText> {
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
