import { computeSum } from "../math/rows.ts";
import { clopperPearson } from "../thresholds/intervals.ts";
import {
  type Estimate,
  isDrawnByStrata,
  printedOf,
  type Rows,
  shareOfRows,
} from "./labelled-rows.ts";

/** With fewer rows of the rarer truth a regression's interval would hold too seldom, so it is the exact one of the labels. */
const LEAST_OF_RARER = 10;
/** Fewer rows of the rarer truth show nothing if their weights differ and they are no strata. */
const LEAST_OF_WEIGHTED = 3;

/**
 * Returns the share of "yes" in all records, labelled or not, with its 95 % interval; null without labels, or with too few
 * weighted ones. The answers of all records make it narrower than that of the labels alone: the regression of the truth on the
 * printed values corrects the share of the labels by how far their printed values differ from all (Cochran, Sampling
 * Techniques, chapter 7). Weighted labels keep their weights instead. Only records without a label are in doubt.
 *
 * @param rows - Labels of a fair draw.
 */
export function shareOfYes(rows: Rows): (Estimate & { readonly records: number }) | null {
  const { form, truth, weights } = rows;
  const [n, yes] = [truth.length, computeSum(truth)];
  const rarer = Math.min(yes, n - yes);
  if (form !== "probability" || n === 0) return null;
  if (weights !== undefined && rarer < LEAST_OF_WEIGHTED && !isDrawnByStrata(rows)) return null;
  const all = printedOf(rows);
  const records = all.length;
  const estimate = () => {
    if (weights !== undefined) {
      return shareOfRows(rows, (row) => truth[row] === 1, { population: "these" });
    }
    if (rarer < LEAST_OF_RARER || n === records)
      return { value: yes / n, ...clopperPearson(yes, n) };
    return regress(rows, all);
  };
  const known = (share: number) =>
    Math.min(1 - (n - yes) / records, Math.max(yes / records, share));
  const { value, low, high } = estimate();
  return { value: known(value), low: known(low), high: known(high), records };
}

function regress({ truth, p }: Rows, all: Float64Array): Estimate {
  const [n, records] = [truth.length, all.length];
  const [meanTruth, meanPrinted] = [computeSum(truth) / n, computeSum(p) / n];
  let [common, spreadWidth, squares] = [0, 0, 0];
  for (let row = 0; row < n; row += 1) {
    const distance = (p[row] as number) - meanPrinted;
    common += distance * ((truth[row] as number) - meanTruth);
    spreadWidth += distance ** 2;
    squares += ((truth[row] as number) - meanTruth) ** 2;
  }
  const slope = spreadWidth === 0 ? 0 : common / spreadWidth;
  const value = Math.min(
    1,
    Math.max(0, meanTruth + slope * (computeSum(all) / records - meanPrinted)),
  );
  // A printed line that fits all labels is not sure to fit all records: two more rows have the whole spread.
  const rest = squares - slope * common + (2 * squares) / n;
  const variance = ((1 - n / records) * rest) / n / (n - 2);
  const effective = Math.max(n, (value * (1 - value)) / variance);
  // With Wilson's limits 5.4 % of the intervals of 60 labels miss, with the exact ones of as many equal labels 4.2 %.
  const { low, high } = clopperPearson(value * effective, effective);
  // The interval is a smooth one of whole numbers of records.
  return { value, low: low - 1 / records, high: high + 1 / records };
}
