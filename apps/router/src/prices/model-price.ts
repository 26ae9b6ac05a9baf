import type { TokenUsage } from "../reply/reply.ts";
import type { Tier } from "../tier-question.ts";

/** What one text model costs, in US dollars per million tokens. */
export interface ModelPrice {
  readonly inputUsdPerMillionTokens: number;
  readonly outputUsdPerMillionTokens: number;
}

/** One tier with its model and price, as the page shows it before anything is asked. */
export interface TierEntry {
  readonly tier: Tier;
  readonly model: string;
  readonly price: ModelPrice | null;
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
