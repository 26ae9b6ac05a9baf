import type {
  FinishReason,
  LanguageModelCallOptions,
  LanguageModelMiddleware,
  LanguageModelUsage,
  ModelMessage,
} from "ai";

/** What a model is asked: one message alone, or a conversation as it was sent. */
export type ReplyPrompt = string | readonly ModelMessage[];

/** Temperature, stop words and the like; none means the model's own. */
export type ReplySettings = Partial<LanguageModelCallOptions>;

type TransformParams = NonNullable<LanguageModelMiddleware["transformParams"]>;
type CallOptions = Parameters<TransformParams>[0]["params"];

/** What a reply may be besides text, in the words of the language model specification. */
export type ReplyForm = Pick<
  CallOptions,
  "tools" | "toolChoice" | "responseFormat" | "providerOptions"
>;

/** A call of one of the client's tools. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as the model wrote them, JSON or not. */
  readonly arguments: string;
}

/** A piece of a tool call while it comes. */
export interface ToolCallDelta {
  /** Which of the reply's tool calls, from 0. */
  readonly index: number;
  /** With the first piece only. */
  readonly id?: string;
  /** With the first piece only. */
  readonly name?: string;
  /** What is added to the arguments. */
  readonly arguments: string;
}

/** Tokens of one reply; null where the model does not say. */
export interface TokenUsage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly totalTokens: number | null;
}

/** What the reply model gave, or how it failed. */
export interface Reply {
  /** Time of the reply call, in whole milliseconds. */
  readonly replyMs: number;
  /** The reply's text; empty when the call failed, and when the text was streamed. */
  readonly reply: string;
  /** Why the call failed, or null. */
  readonly replyError: string | null;
  /** Tokens of the reply call; null when it failed. */
  readonly usage: TokenUsage | null;
}

/** The tokens a reply has to be paid for, whole or not. */
export interface BilledTokens {
  readonly usage: TokenUsage;
  /** Whether the service told none, and they are estimated from the lengths of the texts. */
  readonly isEstimate: boolean;
}

/** How the reply model's service refused a call. */
export interface ReplyRefusal {
  /** The HTTP status that it answered. */
  readonly status: number;
  /** Its own word for programs, such as `context_length_exceeded`, or null. */
  readonly code: string | null;
  /** Its `Retry-After`, or null where it says none. */
  readonly retryAfter: string | null;
}

/** A reply, why it ended, and what it has to be paid for. */
export interface GeneratedReply extends Reply {
  /** Null when the call failed. */
  readonly finishReason: FinishReason | null;
  /** Null when nothing was billed: the model refused the call. */
  readonly billed: BilledTokens | null;
  /** How the call was refused, or null. */
  readonly refusal: ReplyRefusal | null;
  /** Calls of the client's tools; none where they were streamed. */
  readonly toolCalls: readonly ToolCall[];
}

/** Returns the tokens of a reply; the gateway's values come through the `ai` package unchecked. */
export function toTokenUsage(usage: LanguageModelUsage): TokenUsage {
  const { inputTokens, outputTokens, totalTokens } = usage;
  return {
    inputTokens: toCount(inputTokens),
    outputTokens: toCount(outputTokens),
    totalTokens: toCount(totalTokens),
  };
}

/** Returns the tokens as the last event of the gateway's own stream tells them. */
export function wireUsage(usage: unknown): TokenUsage {
  const { inputTokens, outputTokens } = (usage ?? {}) as Record<string, { total?: unknown } | null>;
  return tokenUsage(inputTokens?.total, outputTokens?.total);
}

/** Returns the tokens as a stream of OpenAI's chat API tells them. */
export function openAiUsage(usage: unknown): TokenUsage {
  const { prompt_tokens, completion_tokens } = (usage ?? {}) as Record<string, unknown>;
  return tokenUsage(prompt_tokens, completion_tokens);
}

function tokenUsage(input: unknown, output: unknown): TokenUsage {
  const [inputTokens, outputTokens] = [toCount(input), toCount(output)];
  const isWhole = inputTokens !== null && outputTokens !== null;
  return { inputTokens, outputTokens, totalTokens: isWhole ? inputTokens + outputTokens : null };
}

function toCount(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** Counts what one reply has to be paid for while it comes, for one that never comes to its end. */
export interface TokenMeter {
  readonly addText: (text: string) => void;
  readonly setTold: (usage: TokenUsage) => void;
  /** Returns the tokens the service told, else an estimate. */
  readonly billed: () => BilledTokens;
}

/** A rule of thumb for English; the reply's own count comes with its end only. */
const CHARACTERS_PER_TOKEN = 4;

/** Starts with the prompt's text; images are not counted. */
export function createTokenMeter(prompt: ReplyPrompt): TokenMeter {
  let characters = 0;
  let told: TokenUsage | null = null;
  return {
    addText: ({ length }) => void (characters += length),
    setTold: (usage) => (told = usage),
    billed() {
      if (told !== null) return { usage: told, isEstimate: false };
      const inputTokens = Math.ceil(charactersIn(prompt) / CHARACTERS_PER_TOKEN);
      const outputTokens = Math.ceil(characters / CHARACTERS_PER_TOKEN);
      const usage = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
      return { usage, isEstimate: true };
    },
  };
}

function charactersIn(prompt: ReplyPrompt): number {
  if (typeof prompt === "string") return prompt.length;
  const texts = prompt.flatMap(({ content }) =>
    typeof content === "string"
      ? [content]
      : content.map((part) => (part.type === "text" ? part.text : "")),
  );
  return texts.reduce((sum, { length }) => sum + length, 0);
}
