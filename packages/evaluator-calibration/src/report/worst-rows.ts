import { HALF_A_PRINTED_UNIT } from "../scores/boolean-scores.ts";
import { type LabelledRows, probabilityOf } from "./labelled-rows.ts";

/** A row that the answers were most wrong about. */
export interface WorstRow {
  readonly id: string;
  /** The label's answer. */
  readonly truth: string;
  /** What was most probable. */
  readonly answer: string;
  /** The printed probability of the truth. */
  readonly probability: number;
}

const WORST_ROWS = 20;

/** Returns the rows that the answers were most wrong about, the worst first. */
export function worstRows(rows: LabelledRows): WorstRow[] {
  const { ids, truth, top, options } = rows;
  const probability = new Float64Array(truth.length);
  for (let row = 0; row < truth.length; row += 1) {
    probability[row] = probabilityOf(rows, row, truth[row] as number);
  }
  // Of a million rows only the lowest are put in order, equals by id: the same in any order of the rows.
  const limit = lowestOf(probability, WORST_ROWS).at(-1) ?? 0;
  const worst: number[] = [];
  for (let row = 0; row < truth.length; row += 1) {
    const printed = probability[row] as number;
    if (printed <= limit && printed < 1 - HALF_A_PRINTED_UNIT) worst.push(row);
  }
  return worst
    .toSorted(
      (one, other) =>
        (probability[one] as number) - (probability[other] as number) ||
        ((ids[one] as string) < (ids[other] as string) ? -1 : 1),
    )
    .slice(0, WORST_ROWS)
    .map((row) => ({
      id: ids[row] as string,
      truth: options[truth[row] as number] ?? "",
      answer: options[top[row] as number] ?? "",
      probability: probability[row] as number,
    }));
}

/** Returns the lowest values, ascending: of many values a few. */
function lowestOf(values: Float64Array, count: number): number[] {
  const lowest: number[] = [];
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as number;
    if (lowest.length === count && value >= (lowest[count - 1] as number)) continue;
    const at = lowest.findIndex((other) => value < other);
    lowest.splice(at === -1 ? lowest.length : at, 0, value);
    if (lowest.length > count) lowest.pop();
  }
  return lowest;
}
