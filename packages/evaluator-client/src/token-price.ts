// As the price of a token this is $1,000 a million; as the price of a million, less than any model's.
const LEAST_USD_PER_MILLION = 0.001;

/** Returns whether a price above 0 can only be that of one token, in US dollars: services list prices per token. */
export function isOfOneToken(usd: number): boolean {
  return usd > 0 && usd < LEAST_USD_PER_MILLION;
}

/**
 * Returns why a value is no price of a million tokens in US dollars, to follow "it" or the name of an option;
 * null if it is one: 0, or at least 0.001.
 */
export function priceProblem(usd: unknown): string | null {
  if (typeof usd !== "number" || !Number.isFinite(usd) || usd < 0)
    return "is not a number of US dollars per million tokens, such as 0.042; listModels has that of each model";
  if (!isOfOneToken(usd)) return null;
  const perMillion = Number((usd * 1_000_000).toPrecision(12));
  return `is the price of one token; set US dollars per million tokens, here ${perMillion}`;
}
