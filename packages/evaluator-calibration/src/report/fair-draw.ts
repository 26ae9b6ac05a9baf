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
export function isFairDraw(
  drawnValues: DrawnValues,
  allPrinted: Numbers,
  fromThreshold = 0,
): boolean {
  const [labelledCounts, wholeShares] = [
    listShares(drawnValues, fromThreshold),
    listShares({ p: allPrinted }, fromThreshold),
  ];
  if (labelledCounts.n < LEAST_ROWS || wholeShares.n - labelledCounts.n < LEAST_ROWS) return true;
  const leastShare = Math.max(0.1, LEAST_EXPECTED / labelledCounts.effective);
  let [expectedValue, seenCount, restShare, distance, binCount] = [0, 0, 1, 0, 0];
  for (const [hundredths, binShare] of wholeShares.shares.entries()) {
    expectedValue += binShare;
    seenCount += labelledCounts.shares[hundredths] as number;
    restShare -= binShare;
    // The last bin includes the rest that is too small for another.
    if (hundredths < 100 && (expectedValue < leastShare || restShare < leastShare)) continue;
    distance += (seenCount - expectedValue) ** 2 / expectedValue;
    binCount += 1;
    [expectedValue, seenCount] = [0, 0];
  }
  // The labelled rows are among all rows: the common rows cannot differ.
  const chanceFactor = Math.max(0, 1 / labelledCounts.effective - 1 / wholeShares.n);
  return binCount < 2 || distance <= chanceFactor * chiSquareCut(BY_CHANCE, binCount - 1);
}

/** The rows at `from` and above: their number, their worth in equal rows, and the share of each hundredth. */
function listShares({ p, weights }: DrawnValues, fromThreshold: number) {
  const binShares = new Float64Array(101);
  const countedValues: number[] = [];
  let totalWeight = 0;
  for (let rowIndex = 0; rowIndex < p.length; rowIndex += 1) {
    const hundredths = toHundredths(p[rowIndex] as number);
    if (hundredths < toHundredths(fromThreshold)) continue;
    const rowWeight = weights?.[rowIndex] ?? 1;
    countedValues.push(rowWeight);
    totalWeight += rowWeight;
    binShares[hundredths] = (binShares[hundredths] as number) + rowWeight;
  }
  return {
    n: countedValues.length,
    effective: effectiveRows(
      countedValues.length,
      weights === undefined ? undefined : countedValues,
    ),
    shares: binShares.map((binWeight) => binWeight / totalWeight),
  };
}
