import type { LanguageModelUsage, ModelMessage } from "ai";

/** Tokens of one reply; null where the model does not say. */
export interface TokenUsage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly totalTokens: number | null;
}

/** The tokens a reply has to be paid for, whole or not. */
export interface BilledTokens {
  readonly usage: TokenUsage;
  /** Whether the service named none, and they are estimated from the lengths of the texts. */
  readonly isEstimate: boolean;
}

/** What one text model costs, in US dollars per million tokens. */
export interface ModelPrice {
  readonly inputUsdPerMillionTokens: number;
  readonly outputUsdPerMillionTokens: number;
}

/** Prices by model id; a model that is not listed has none. */
export type PriceList = ReadonlyMap<string, ModelPrice>;

/** Returns what these tokens cost at this price, in US dollars; null when either is not known. */
export function costOf(usage: TokenUsage | null, price: ModelPrice | null): number | null {
  if (usage === null || price === null) return null;
  const { inputTokens, outputTokens } = usage;
  if (inputTokens === null || outputTokens === null) return null;
  const input = inputTokens * price.inputUsdPerMillionTokens;
  return (input + outputTokens * price.outputUsdPerMillionTokens) / 1_000_000;
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

/** Returns the tokens as the last event of the gateway's own stream has them. */
export function wireUsage(usage: unknown): TokenUsage {
  const { inputTokens, outputTokens } = (usage ?? {}) as Record<string, { total?: unknown } | null>;
  return tokenUsage(inputTokens?.total, outputTokens?.total);
}

/** Returns the tokens as a stream of OpenAI's chat API has them. */
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
export type TokenMeter = ReturnType<typeof createTokenMeter>;

/** A rule of thumb for English; the reply's own count comes with its end only. */
export const CHARACTERS_PER_TOKEN = 4;

type Prompt = string | readonly ModelMessage[];

/** Starts with the prompt's text; images are not counted. */
export function createTokenMeter(prompt: Prompt) {
  let characters = 0;
  let reported: TokenUsage | null = null;
  return {
    addText: ({ length }: string) => void (characters += length),
    setUsage: (usage: TokenUsage) => (reported = usage),
    /** Returns the tokens the service named, else an estimate. */
    billed(): BilledTokens {
      if (reported !== null) return { usage: reported, isEstimate: false };
      const inputTokens = Math.ceil(charactersIn(prompt) / CHARACTERS_PER_TOKEN);
      const outputTokens = Math.ceil(characters / CHARACTERS_PER_TOKEN);
      const usage = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
      return { usage, isEstimate: true };
    },
  };
}

function charactersIn(prompt: Prompt): number {
  if (typeof prompt === "string") return prompt.length;
  const texts = prompt.flatMap(({ content }) =>
    typeof content === "string"
      ? [content]
      : content.map((part) => (part.type === "text" ? part.text : "")),
  );
  return texts.reduce((sum, { length }) => sum + length, 0);
}
