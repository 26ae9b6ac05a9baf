/**
 * The price of a million tokens, from the decimal price of one: `"0.000000042"` gives 0.042. The
 * decimal point is moved in the text, so nothing is rounded on the way; null stays null.
 */
export function usdPerMillionTokens(usdPerToken: string | number | null | undefined) {
  if (usdPerToken === null || usdPerToken === undefined) return null;
  const [digits, exponent = "0"] = String(usdPerToken).toLowerCase().split("e");
  return Number(`${digits}e${Number(exponent) + 6}`);
}
