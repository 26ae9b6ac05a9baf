import { computeSum } from "../math/rows.ts";
import { wilson } from "../thresholds/intervals.ts";
import { type Estimate, printedOf, type Rows, shareOfRows } from "./labelled-rows.ts";

/** With fewer rows of the rarer truth the interval would hold too seldom. */
const LEAST_OF_RARER = 10;

/**
 * Returns the share of "yes" in all records, labelled or not, with its 95 % interval; null without enough labels of each
 * truth. The answers of all records make it narrower than that of the labels alone: the regression of the truth on the
 * printed values corrects the share of the labels by how far their printed values differ from all (Cochran, Sampling
 * Techniques, chapter 7). Weighted labels keep their weights instead.
 *
 * @param rows - Labels of a fair draw.
 */
export function shareOfYes(rows: Rows): (Estimate & { readonly records: number }) | null {
  const { form, truth, p, weights } = rows;
  if (form !== "probability") return null;
  const [n, yes] = [truth.length, computeSum(truth)];
  if (Math.min(yes, n - yes) < LEAST_OF_RARER) return null;
  const all = printedOf(rows);
  const records = all.length;
  if (weights !== undefined) {
    return { ...shareOfRows(rows, (row) => truth[row] === 1), records };
  }
  const [meanTruth, meanPrinted] = [yes / n, computeSum(p) / n];
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
  const variance = rest / n / (n - 2);
  const effective = Math.max(n, (value * (1 - value)) / variance);
  return { value, ...wilson(value * effective, effective), records };
}
