import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import { type Conversation, textOf } from "../conversation/conversation.ts";

/** Tokens of one reply; null if unknown. Reasoning tokens are part of the output. */
export interface TokenUsage {
  /** Input that no cache had. */
  readonly input: number | null;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  readonly output: number | null;
  readonly reasoning: number | null;
}

/** A model's prices, named as the catalog and `/tiers` name them. Without a cache's, the input price holds. */
export interface ModelPrice {
  readonly inputUsdPerMillionTokens: number;
  readonly outputUsdPerMillionTokens: number;
  readonly cacheReadUsdPerMillionTokens?: number | null;
  readonly cacheWriteUsdPerMillionTokens?: number | null;
}

/** The tokens to pay for, of a whole reply or not. */
export interface BilledTokens {
  readonly usage: TokenUsage;
  /** Whether the service reported none, so that they are estimated from the texts' lengths. */
  readonly isEstimate: boolean;
}

/** Counts the tokens of a reply while it comes, in case it never ends. */
export interface TokenMeter {
  characters: number;
  /** The tokens that the service reported last. */
  reported: TokenUsage | null;
}

/** Returns all input tokens, cached or not. */
export function inputOf({ input, cacheRead, cacheWrite }: TokenUsage): number | null {
  return input === null ? null : input + (cacheRead ?? 0) + (cacheWrite ?? 0);
}

/** The counts of a service that reported none. */
export const noUsage: TokenUsage = {
  input: null,
  cacheRead: null,
  cacheWrite: null,
  output: null,
  reasoning: null,
};

/** Returns the counts of an unchecked usage in the form of the `ai` package. */
export function toTokenUsage(usage: unknown): TokenUsage {
  const { inputTokens, outputTokens } = (usage ?? {}) as Partial<LanguageModelV4Usage>;
  const cacheRead = toCount(inputTokens?.cacheRead);
  const cacheWrite = toCount(inputTokens?.cacheWrite);
  const total = toCount(inputTokens?.total);
  const uncached = total && Math.max(0, total - (cacheRead ?? 0) - (cacheWrite ?? 0));
  return {
    input: toCount(inputTokens?.noCache) ?? uncached,
    cacheRead,
    cacheWrite,
    output: toCount(outputTokens?.total),
    reasoning: toCount(outputTokens?.reasoning),
  };
}

/** Returns a count of tokens; null if the value is none. */
export function toCount(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}

/** Returns the counts of both usages; a later one replaces an earlier one. */
export function mergeUsage(earlier: TokenUsage | null, later: TokenUsage): TokenUsage {
  const known = Object.entries(later).filter(([, count]) => count !== null);
  return { ...(earlier ?? later), ...Object.fromEntries(known) };
}

/** Returns the cost of tokens in US dollars, or null if the tokens or the price are unknown. */
export function costOf(usage: TokenUsage | null, price: ModelPrice | null): number | null {
  if (usage === null || price === null) return null;
  const { input, output } = usage;
  if (input === null || output === null) return null;
  const perInput = price.inputUsdPerMillionTokens;
  const dollars =
    input * perInput +
    (usage.cacheRead ?? 0) * (price.cacheReadUsdPerMillionTokens ?? perInput) +
    (usage.cacheWrite ?? 0) * (price.cacheWriteUsdPerMillionTokens ?? perInput) +
    output * price.outputUsdPerMillionTokens;
  return dollars / 1_000_000;
}

/** Anthropic's count of the largest image that it does not shrink. */
export const TOKENS_PER_IMAGE = 1600;

/** A rule of thumb for English, for replies without a reported count. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * Returns the reported tokens of a whole reply. Otherwise at least an estimate, since a stream of Anthropic
 * reports its input and one token at its start; an image counts as the word for it.
 */
export function billedTokens(
  { characters, reported }: TokenMeter,
  { messages }: Pick<Conversation, "messages">,
  { isWhole = false } = {},
): BilledTokens {
  if (isWhole && reported !== null) return { usage: reported, isEstimate: false };
  const length = messages.reduce((sum, { parts }) => sum + textOf(parts).length, 0);
  const input = reported?.input ?? estimateTokens(length);
  const output = Math.max(estimateTokens(characters), reported?.output ?? 0);
  const usage = { ...noUsage, ...reported, input, output };
  return { usage, isEstimate: output !== reported?.output };
}

/** Estimates the tokens of a text from its length. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
