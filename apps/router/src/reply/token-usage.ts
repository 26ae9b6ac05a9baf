import type { LanguageModelUsage } from "ai";
import type { TokenUsage } from "../chat/chat-response.ts";

/** The tokens of a reply; the gateway's values come through the `ai` package unchecked. */
export function toTokenUsage(usage: LanguageModelUsage): TokenUsage {
  const { inputTokens, outputTokens, totalTokens } = usage;
  return {
    inputTokens: toCount(inputTokens),
    outputTokens: toCount(outputTokens),
    totalTokens: toCount(totalTokens),
  };
}

function toCount(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
