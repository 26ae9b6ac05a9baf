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
export function isFairDraw(drawn: DrawnValues, all: Numbers, from = 0): boolean {
  const [labelled, whole] = [sharesOf(drawn, from), sharesOf({ p: all }, from)];
  if (labelled.n < LEAST_ROWS || whole.n - labelled.n < LEAST_ROWS) return true;
  const least = Math.max(0.1, LEAST_EXPECTED / labelled.effective);
  let [expected, seen, rest, distance, bins] = [0, 0, 1, 0, 0];
  for (const [at, share] of whole.shares.entries()) {
    expected += share;
    seen += labelled.shares[at] as number;
    rest -= share;
    // The last bin includes the rest that is too small for another.
    if (at < 100 && (expected < least || rest < least)) continue;
    distance += (seen - expected) ** 2 / expected;
    bins += 1;
    [expected, seen] = [0, 0];
  }
  // The labelled rows are among all rows: the common rows cannot differ.
  const chance = Math.max(0, 1 / labelled.effective - 1 / whole.n);
  return bins < 2 || distance <= chance * chiSquareCut(BY_CHANCE, bins - 1);
}

/** The rows at `from` and above: their number, their worth in equal rows, and the share of each hundredth. */
function sharesOf({ p, weights }: DrawnValues, from: number) {
  const shares = new Float64Array(101);
  const counted: number[] = [];
  let total = 0;
  for (let row = 0; row < p.length; row += 1) {
    const at = toHundredths(p[row] as number);
    if (at < toHundredths(from)) continue;
    const weight = weights?.[row] ?? 1;
    counted.push(weight);
    total += weight;
    shares[at] = (shares[at] as number) + weight;
  }
  return {
    n: counted.length,
    effective: effectiveRows(counted.length, weights === undefined ? undefined : counted),
    shares: shares.map((weight) => weight / total),
  };
}
