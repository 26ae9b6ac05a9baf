/** Decimal places of every printed probability and score (contract section 2.4, rule 1). */
export const printedDecimals = 2;

/** A number rounded to the printed decimals, halves up. */
export function roundToPrinted(value: number): number {
  const scale = 10 ** printedDecimals;
  return Math.round(value * scale) / scale;
}
