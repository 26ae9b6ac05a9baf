import type { Summary } from "../statistics/summary.ts";

/** A number with the two or three digits that matter, and a comma for thousands. */
export function printNumber(value: number): string {
  const digits = fractionDigits(Math.abs(value));
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return value.toLocaleString("en", format);
}

/** A median with its quartiles, such as `96.0 (91.2–104)`. */
export function printSummary(summary: Summary, unit = ""): string {
  const { median, lowerQuartile, upperQuartile } = summary;
  const spread = `${printNumber(lowerQuartile)}–${printNumber(upperQuartile)}`;
  return `${printNumber(median)}${unit} (${spread})`;
}

function fractionDigits(size: number): number {
  if (size >= 100) return 0;
  return size >= 10 ? 1 : 2;
}
