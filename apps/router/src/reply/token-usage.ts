import type { LanguageModelUsage } from "ai";
import type { ReplyPrompt } from "./ask-for-text.ts";
import type { BilledTokens, TokenUsage } from "./reply.ts";

/** The tokens of a reply; the gateway's values come through the `ai` package unchecked. */
export function toTokenUsage(usage: LanguageModelUsage): TokenUsage {
  const { inputTokens, outputTokens, totalTokens } = usage;
  return {
    inputTokens: toCount(inputTokens),
    outputTokens: toCount(outputTokens),
    totalTokens: toCount(totalTokens),
  };
}

/** The tokens as the last event of the gateway's own stream tells them. */
export function wireUsage(usage: unknown): TokenUsage {
  const { inputTokens, outputTokens } = (usage ?? {}) as Record<string, { total?: unknown } | null>;
  const [input, output] = [toCount(inputTokens?.total), toCount(outputTokens?.total)];
  const total = input === null || output === null ? null : input + output;
  return { inputTokens: input, outputTokens: output, totalTokens: total };
}

function toCount(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** Counts what one reply has to be paid for while it comes, for one that never comes to its end. */
export interface TokenMeter {
  readonly addText: (text: string) => void;
  readonly setTold: (usage: TokenUsage) => void;
  /** Returns the tokens the gateway told, else an estimate. */
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
