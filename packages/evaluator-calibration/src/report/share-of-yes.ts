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
 * @param labelledRows - Labels of a fair draw.
 */
export function shareOfYes(labelledRows: Rows): (Estimate & { readonly records: number }) | null {
  const { form, truth, weights } = labelledRows;
  const [rowCount, yesCount] = [truth.length, computeSum(truth)];
  const rarerCount = Math.min(yesCount, rowCount - yesCount);
  if (form !== "probability" || rowCount === 0) return null;
  if (weights !== undefined && rarerCount < LEAST_OF_WEIGHTED && !isDrawnByStrata(labelledRows))
    return null;
  const allPrinted = printedOf(labelledRows);
  const records = allPrinted.length;
  const estimate = () => {
    if (weights !== undefined) {
      return shareOfRows(labelledRows, (rowIndex) => truth[rowIndex] === 1, {
        population: "these",
      });
    }
    if (rarerCount < LEAST_OF_RARER || rowCount === records)
      return { value: yesCount / rowCount, ...clopperPearson(yesCount, rowCount) };
    return regress(labelledRows, allPrinted);
  };
  const withinKnown = (yesShare: number) =>
    Math.min(1 - (rowCount - yesCount) / records, Math.max(yesCount / records, yesShare));
  const { value, low, high } = estimate();
  return { value: withinKnown(value), low: withinKnown(low), high: withinKnown(high), records };
}

function regress({ truth, p }: Rows, allPrinted: Float64Array): Estimate {
  const [rowCount, records] = [truth.length, allPrinted.length];
  const [meanTruth, meanPrinted] = [computeSum(truth) / rowCount, computeSum(p) / rowCount];
  let [crossSum, spreadWidth, squares] = [0, 0, 0];
  for (let rowIndex = 0; rowIndex < rowCount; rowIndex += 1) {
    const distance = (p[rowIndex] as number) - meanPrinted;
    crossSum += distance * ((truth[rowIndex] as number) - meanTruth);
    spreadWidth += distance ** 2;
    squares += ((truth[rowIndex] as number) - meanTruth) ** 2;
  }
  const slope = spreadWidth === 0 ? 0 : crossSum / spreadWidth;
  const value = Math.min(
    1,
    Math.max(0, meanTruth + slope * (computeSum(allPrinted) / records - meanPrinted)),
  );
  // A printed line that fits all labels is not sure to fit all records: two more rows have the whole spread.
  const restSquares = squares - slope * crossSum + (2 * squares) / rowCount;
  const variance = ((1 - rowCount / records) * restSquares) / rowCount / (rowCount - 2);
  const effective = Math.max(rowCount, (value * (1 - value)) / variance);
  // With Wilson's limits 5.4 % of the intervals of 60 labels miss, with the exact ones of as many equal labels 4.2 %.
  const { low, high } = clopperPearson(value * effective, effective);
  // The interval is a smooth one of whole numbers of records.
  return { value, low: low - 1 / records, high: high + 1 / records };
}
