import type { CatalogModel } from "./models.ts";

/**
 * Money is counted in picodollars (a millionth of a millionth of a US dollar), as whole numbers:
 * the cheapest price, $0.042 per million tokens, is 42,000 of them for one token.
 */
export type Picodollars = number;

const decimals = 12;

/** Picodollars in one US dollar. */
export const picodollarsPerDollar = 10 ** decimals;

/** Returns the price of one token, from a price in US dollars per million tokens. */
export function pricePerToken(dollarsPerMillion: number): Picodollars {
  return Math.round((dollarsPerMillion * picodollarsPerDollar) / 1_000_000);
}

/**
 * Returns US dollars as a plain decimal string, never in exponent notation: `0.000014112`, `5`,
 * `-0.5`.
 */
export function toDollarString(amount: Picodollars): string {
  const digits = String(Math.abs(Math.round(amount))).padStart(decimals + 1, "0");
  const fraction = digits.slice(-decimals).replace(/(?<!0)0+$/, "");
  const sign = amount < 0 ? "-" : "";
  return `${sign}${digits.slice(0, -decimals)}${fraction === "" ? "" : `.${fraction}`}`;
}

/** Tokens of one call. */
export interface CallTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Returns the market price of a call to a model. */
export function costOfCall(model: CatalogModel, tokens: CallTokens): Picodollars {
  return (
    tokens.inputTokens * pricePerToken(model.inputPerMillion) +
    tokens.outputTokens * pricePerToken(model.outputPerMillion)
  );
}
