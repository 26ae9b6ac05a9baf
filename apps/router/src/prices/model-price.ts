/** What one text model costs, in US dollars per million tokens. */
export interface ModelPrice {
  readonly inputUsdPerMillionTokens: number;
  readonly outputUsdPerMillionTokens: number;
}

/** Prices by model id; a model that is not listed has none. */
export type PriceList = ReadonlyMap<string, ModelPrice>;
