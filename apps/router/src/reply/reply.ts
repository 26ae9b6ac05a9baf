import type { LanguageModelCallOptions, LanguageModelMiddleware, ModelMessage } from "ai";

/** One message, or a conversation. */
export type ReplyPrompt = string | readonly ModelMessage[];

/** Temperature, stop words and other settings; the model's own by default. */
export type ReplySettings = Partial<LanguageModelCallOptions>;

type TransformParams = NonNullable<LanguageModelMiddleware["transformParams"]>;
type CallOptions = Parameters<TransformParams>[0]["params"];

/** Tools and response format, as the language model specification names them. */
export type ReplyForm = Pick<
  CallOptions,
  "tools" | "toolChoice" | "responseFormat" | "providerOptions"
>;

/** A piece of a tool call in a service's event. */
export interface ToolPiece {
  /** The service's own id or number of the tool call. */
  readonly key: string | number;
  readonly id?: string;
  readonly name?: string;
  readonly text: string;
  /** Whether the text is all of the arguments, which may have come in pieces before. */
  readonly isWhole?: boolean;
}

/** A piece of a tool call for the client; id and name are in the first piece only. */
export interface ToolCallDelta {
  /** The number of the tool call in the reply, from 0. */
  readonly index: number;
  readonly id?: string;
  readonly name?: string;
  readonly arguments: string;
}

/** A reply, or its failure. */
export interface Reply {
  /** Time of the reply call, in whole milliseconds. */
  readonly replyMs: number;
  /** Empty if the call failed or the text was streamed. */
  readonly reply: string;
  readonly replyError: string | null;
  /** Null if the call failed. */
  readonly usage: TokenUsage | null;
}

export { BrokenReplyError } from "./broken-reply-error.ts";

/** Tokens of one reply; null if unknown. */
type TokenUsage = Readonly<Record<"inputTokens" | "outputTokens" | "totalTokens", number | null>>;

/** The tokens to pay for, of a whole reply or not. */
export interface BilledTokens {
  readonly usage: TokenUsage;
  /** Whether the service reported none, so that they are estimated from the texts' lengths. */
  readonly isEstimate: boolean;
}

/** Price of a text model, in US dollars per million tokens. */
export type ModelPrice = Readonly<
  Record<"inputUsdPerMillionTokens" | "outputUsdPerMillionTokens", number>
>;

/** Returns the cost of tokens in US dollars, or null if the tokens or the price are unknown. */
export function costOf(usage: TokenUsage | null, price: ModelPrice | null): number | null {
  if (usage === null || price === null) return null;
  const { inputTokens, outputTokens } = usage;
  if (inputTokens === null || outputTokens === null) return null;
  const input = inputTokens * price.inputUsdPerMillionTokens;
  return (input + outputTokens * price.outputUsdPerMillionTokens) / 1_000_000;
}

/** Returns token counts from unchecked values; without a total, it is the sum. */
export function toTokenUsage(input: unknown, output: unknown, total?: unknown): TokenUsage {
  const [inputTokens, outputTokens] = [toCount(input), toCount(output)];
  const hasBoth = inputTokens !== null && outputTokens !== null;
  const sum = hasBoth ? inputTokens + outputTokens : null;
  return { inputTokens, outputTokens, totalTokens: total === undefined ? sum : toCount(total) };
}

function toCount(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** Counts the tokens of a reply while it comes, in case it never ends. */
export interface TokenMeter {
  characters: number;
  reported: TokenUsage | null;
}

/** A rule of thumb for English, for replies without a reported count. */
const CHARACTERS_PER_TOKEN = 4;

/** Returns the reported tokens, else an estimate; images are not counted. */
export function billedTokens(
  { characters, reported }: TokenMeter,
  prompt: string | readonly Pick<ModelMessage, "content">[],
): BilledTokens {
  if (reported !== null) return { usage: reported, isEstimate: false };
  const messages = typeof prompt === "string" ? [{ content: prompt }] : prompt;
  const texts = messages.flatMap(({ content }) =>
    typeof content === "string"
      ? content
      : content.map((part) => (part.type === "text" ? part.text : "")),
  );
  const input = texts.reduce((sum, { length }) => sum + length, 0);
  const [inputTokens, outputTokens] = [input, characters].map((count) =>
    Math.ceil(count / CHARACTERS_PER_TOKEN),
  );
  return { usage: toTokenUsage(inputTokens, outputTokens), isEstimate: true };
}
