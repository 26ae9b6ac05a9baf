import { effectiveRows, type Numbers } from "../math/rows.ts";
import { chiSquareCut } from "../math/special-functions.ts";
import { toHundredths } from "../thresholds/risk-coverage.ts";

// A fair draw is called unfair in one of a thousand reports.
const BY_CHANCE = 0.001;
/** Fewer rows on either side show no difference. */
const LEAST_ROWS = 30;
/** Chi-square needs so many expected rows in a bin. */
const LEAST_EXPECTED = 5;

/** The printed values of labelled rows, by weight. */
interface DrawnValues {
  readonly p: Numbers;
  readonly weights?: Numbers | undefined;
}

/**
 * Returns whether labels look like a random draw of all records whose printed value is at least `from`: the
 * weighted shares of printed values equal those of all, up to chance. True if there are too few of either.
 */
export function isFairDraw(drawnValues: DrawnValues, all: Numbers, from = 0): boolean {
  const [labelledCounts, whole] = [listShares(drawnValues, from), listShares({ p: all }, from)];
  if (labelledCounts.n < LEAST_ROWS || whole.n - labelledCounts.n < LEAST_ROWS) return true;
  const least = Math.max(0.1, LEAST_EXPECTED / labelledCounts.effective);
  let [expectedValue, seenCount, rest, distance, bins] = [0, 0, 1, 0, 0];
  for (const [at, share] of whole.shares.entries()) {
    expectedValue += share;
    seenCount += labelledCounts.shares[at] as number;
    rest -= share;
    // The last bin includes the rest that is too small for another.
    if (at < 100 && (expectedValue < least || rest < least)) continue;
    distance += (seenCount - expectedValue) ** 2 / expectedValue;
    bins += 1;
    [expectedValue, seenCount] = [0, 0];
  }
  // The labelled rows are among all rows: the common rows cannot differ.
  const chance = Math.max(0, 1 / labelledCounts.effective - 1 / whole.n);
  return bins < 2 || distance <= chance * chiSquareCut(BY_CHANCE, bins - 1);
}

/** The rows at `from` and above: their number, their worth in equal rows, and the share of each hundredth. */
function listShares({ p, weights }: DrawnValues, from: number) {
  const shares = new Float64Array(101);
  const countedValues: number[] = [];
  let total = 0;
  for (let row = 0; row < p.length; row += 1) {
    const at = toHundredths(p[row] as number);
    if (at < toHundredths(from)) continue;
    const weight = weights?.[row] ?? 1;
    countedValues.push(weight);
    total += weight;
    shares[at] = (shares[at] as number) + weight;
  }
  return {
    n: countedValues.length,
    effective: effectiveRows(
      countedValues.length,
      weights === undefined ? undefined : countedValues,
    ),
    shares: shares.map((weight) => weight / total),
  };
}
