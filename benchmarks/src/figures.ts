import { markdownTable } from "markdown-table";
import { median, quantile } from "simple-statistics";

/** Summarises at least one measurement: a quarter of them is below the lower quartile, a quarter above the upper. */
export function summarise(values: readonly number[]) {
  const numbers = [...values];
  return {
    median: median(numbers),
    lowerQuartile: quantile(numbers, 0.25),
    upperQuartile: quantile(numbers, 0.75),
  };
}

/**
 * Compares two series that were measured in turns. The ratio is taken round by round, so a slow
 * round slows both.
 */
export function compareRounds(values: readonly number[], reference: readonly number[]) {
  if (values.length !== reference.length) throw new Error("The series differ in length.");
  return summarise(values.map((value, round) => value / (reference[round] ?? Number.NaN)));
}

/** Returns the items in their order, beginning with another one in each round. */
export function rotate<TItem>(items: readonly TItem[], round: number): TItem[] {
  const start = items.length === 0 ? 0 : round % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}

/** Returns a number with the two or three digits that matter, and a comma for thousands. */
export function printNumber(value: number): string {
  const digits = fractionDigits(Math.abs(value));
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return value.toLocaleString("en", format);
}

/** Returns a median with its quartiles, such as `96.0 (91.2–104)`. */
export function printSummary(
  { median, lowerQuartile, upperQuartile }: ReturnType<typeof summarise>,
  unit = "",
): string {
  const spread = `${printNumber(lowerQuartile)}–${printNumber(upperQuartile)}`;
  return `${printNumber(median)}${unit} (${spread})`;
}

function fractionDigits(size: number): number {
  if (size >= 100) return 0;
  return size >= 10 ? 1 : 2;
}

/** A table: the first column is text, the others are numbers; the note is a line below it. */
export interface ReportTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly note?: string;
}

/** Prints a table as Markdown. */
export function printTable({ title, columns, rows, note }: ReportTable): string {
  const align = columns.map((_, column) => (column === 0 ? "left" : "right"));
  const table = markdownTable([columns, ...rows], { align });
  return `${title}\n\n${table}\n${note === undefined ? "" : `\n${note}\n`}\n`;
}
