/**
 * Returns a share of two decimals in percent: a 1 means at least 0.995, a 0 less than 0.005
 * (contract section 2.4).
 */
export function percent(probability: number): string {
  if (probability >= 1) return "> 99%";
  if (probability <= 0) return "< 1%";
  return `${Math.round(probability * 100)}%`;
}

/** Returns milliseconds as a person reads them. */
export function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

const dollars = new Intl.NumberFormat("en", {
  style: "currency",
  currency: "USD",
  maximumSignificantDigits: 2,
});

/** Returns a price in US dollars, small ones too; an unknown one is said to be unknown. */
export function usd(price: number | null): string {
  return price === null ? "unknown" : dollars.format(price);
}

/** Returns a number of tokens, or a question mark where the model does not say. */
export function tokens(count: number | null): string {
  return count === null ? "?" : count.toLocaleString("en");
}
