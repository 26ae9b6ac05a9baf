/** Tokens of one reply; null if unknown. Reasoning tokens are part of the output. */
export interface TokenUsage {
  /** Input that no cache had. */
  readonly input: number | null;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  readonly output: number | null;
  readonly reasoning: number | null;
}

/** A model's prices, named as the catalog and `/tiers` name them. */
export interface ModelPrice {
  readonly inputUsdPerMillionTokens: number;
  readonly outputUsdPerMillionTokens: number;
  /** Without it, the input price holds. */
  readonly cacheReadUsdPerMillionTokens?: number | null;
  /** Without it, the input price holds. */
  readonly cacheWriteUsdPerMillionTokens?: number | null;
}
