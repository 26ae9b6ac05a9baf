import { Z_OF_95 } from "../math/special-functions.ts";
import { clopperPearson, type Interval } from "../thresholds/intervals.ts";

/** Fewer records have no alpha; if fewer have another label than the commonest, its interval would hold too seldom. */
const LEAST_RECORDS = 10;

/**
 * Returns how far labelers agree beyond chance (Krippendorff's alpha) with its 95 % interval; 1 is full agreement.
 * Null for fewer than ten records with two labels, and if all labels are one; the limits are NaN if fewer
 * than ten records have another label than the commonest.
 *
 * @param records - The labels of each record, as whole numbers.
 * @param distanceOf - How far two labels differ; 0 for equal ones.
 */
export function krippendorffAlpha(
  records: readonly (readonly number[])[],
  distanceOf: (one: number, other: number) => number,
): (Interval & { readonly value: number }) | null {
  const comparedValueLists = records.filter(({ length }) => length > 1);
  const allLabels = comparedValueLists.flat();
  const labelShares = Array.from(
    Map.groupBy(allLabels, (label) => label),
    ([label, { length }]) => ({ label, share: length / allLabels.length }),
  ).toSorted((firstShare, secondShare) => secondShare.share - firstShare.share);
  const fromAll = (one: number) =>
    sumOver(labelShares, ({ label, share }) => share * distanceOf(one, label));
  const expectedValue = sumOver(labelShares, ({ label, share }) => share * fromAll(label));
  if (comparedValueLists.length < LEAST_RECORDS || expectedValue === 0) return null;
  const recordParts = comparedValueLists.map((recordLabels) => ({
    n: recordLabels.length,
    seen: sumOver(recordLabels, (firstLabel) =>
      sumOver(recordLabels, (secondLabel) => distanceOf(firstLabel, secondLabel)),
    ),
    byChance: sumOver(recordLabels, fromAll),
  }));
  const observedValue =
    sumOver(recordParts, ({ n, seen: seenCount }) => seenCount / (n - 1)) / allLabels.length;
  const value = 1 - (observedValue / expectedValue) * (1 - 1 / allLabels.length);
  const commonest = labelShares[0]?.label;
  const rarerRecords = comparedValueLists.length * (1 - (labelShares[0]?.share ?? 1));
  // 100 × (1 − 0.9) is a little below 10 in binary.
  if (rarerRecords < LEAST_RECORDS - 1e-9) return { value, low: Number.NaN, high: Number.NaN };
  if (observedValue === 0) {
    const farthest = Math.max(
      ...labelShares.map(({ label }) => distanceOf(label, commonest as number)),
    );
    return {
      value,
      low: 1 - (farthest * clopperPearson(0, comparedValueLists.length).high) / expectedValue,
      high: 1,
    };
  }
  // The delta method on the logarithm of observed over expected disagreement, record by record.
  const squares = sumOver(recordParts, ({ n, seen: seenCount, byChance }) => {
    const seenTerm = seenCount / (n - 1) / observedValue - n;
    return (seenTerm - 2 * (byChance / expectedValue - n)) ** 2;
  });
  const degrees = comparedValueLists.length / (comparedValueLists.length - 1);
  const factor = Math.exp((Z_OF_95 * Math.sqrt(squares * degrees)) / allLabels.length);
  return { value, low: 1 - (1 - value) * factor, high: 1 - (1 - value) / factor };
}

function sumOver<TItem>(summedItems: readonly TItem[], valueOf: (item: TItem) => number): number {
  return summedItems.reduce((runningSum, summedItem) => runningSum + valueOf(summedItem), 0);
}
