/** Tokens of one reply; null if unknown. Reasoning tokens are part of the output. */
export interface TokenUsage {
  /** Input that no cache had. */
  readonly input: number | null;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  readonly output: number | null;
  readonly reasoning: number | null;
}

/** US dollars per million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** @default input */
  readonly cacheRead?: number;
  /** @default input */
  readonly cacheWrite?: number;
}
