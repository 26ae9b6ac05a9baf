import { effectiveRows } from "../check-rows.ts";
import type { AnswerColumn } from "../input/answer-table.ts";
import { chiSquareCut } from "../math/special-functions.ts";
import { topOptions } from "../scores/choice-scores.ts";
import { countRisks } from "../thresholds/risk-coverage.ts";
import type { TestedRows } from "./labelled-rows.ts";

// A fair draw is called unfair in one of a thousand reports.
const BY_CHANCE = 0.001;
/** Fewer rows on either side show no difference worth a word. */
const LEAST_ROWS = 30;
/** Chi-square needs so many expected rows in a bin. */
const LEAST_EXPECTED = 5;

/**
 * Returns whether labels look drawn by chance from all answers: their weighted shares of printed values
 * are those of all answers, up to chance. True if there are too few of either.
 */
export function isFairDraw(column: AnswerColumn, { p, weights }: TestedRows): boolean {
  const { width, values, ids } = column;
  if (p.length < LEAST_ROWS || ids.length - p.length < LEAST_ROWS) return true;
  const all = sharesOf(topOptions({ width, values }).probability);
  const labelled = sharesOf(p, weights);
  const effective = effectiveRows(p.length, weights);
  const least = Math.max(0.1, LEAST_EXPECTED / effective);
  let [expected, seen, rest, distance, bins] = [0, 0, 1, 0, 0];
  for (const [at, share] of all.entries()) {
    expected += share;
    seen += labelled[at] as number;
    rest -= share;
    // The last bin takes what is too little for another.
    if (at < 100 && (expected < least || rest < least)) continue;
    distance += (seen - expected) ** 2 / expected;
    bins += 1;
    [expected, seen] = [0, 0];
  }
  // The labelled rows are among all rows: what they have in common cannot differ.
  const chance = Math.max(0, 1 / effective - 1 / ids.length);
  return bins < 2 || distance <= chance * chiSquareCut(BY_CHANCE, bins - 1);
}

/** The share of rows at each printed value, by hundredths. */
function sharesOf(p: Float64Array, weights?: Float64Array): Float64Array {
  const { rows, total } = countRisks(p, new Uint8Array(p.length), { weights });
  return rows.map((count) => count / total);
}
