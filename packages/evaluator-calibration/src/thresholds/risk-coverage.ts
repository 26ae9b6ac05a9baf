import {
  checkRows,
  effectiveRows,
  type Numbers,
  rejectValue,
  type Weighted,
} from "../math/rows.ts";
import { checkShare, clopperPearson } from "./intervals.ts";

/**
 * Returns rows and wrong rows at each printed value, and at it and above: 101 of each, by hundredths.
 *
 * In floating point `p >= 0.83` loses rows, so values are compared in printed hundredths.
 */
export function countRisks(sureness: Numbers, wrong: Numbers, { weights }: Weighted = {}) {
  checkRows(sureness, wrong, { weights, names: ["sureness", "wrong"] });
  const riskCounts = { rows: new Float64Array(101), wrong: new Float64Array(101) };
  for (let rowIndex = 0; rowIndex < sureness.length; rowIndex += 1) {
    const hundredths = toHundredths(sureness[rowIndex] as number);
    const rowWeight = weights === undefined ? 1 : (weights[rowIndex] as number);
    riskCounts.rows[hundredths] = (riskCounts.rows[hundredths] as number) + rowWeight;
    if (wrong[rowIndex] === 1)
      riskCounts.wrong[hundredths] = (riskCounts.wrong[hundredths] as number) + rowWeight;
  }
  return cumulate(riskCounts);
}

/** Returns a printed value as a whole number of hundredths. */
export function toHundredths(printedValue: number): number {
  return Math.round(100 * printedValue);
}

/** Returns 1 − p rounded again: 1 − 0.83 is not the number that is printed as 0.17. */
export function complement(probability: number): number {
  return Math.round(1e12 * (1 - probability)) / 1e12;
}

/** Returns the counts of rows and wrong rows at each hundredth, and their sums at it and above. */
export function cumulate({
  rows,
  wrong,
}: {
  readonly rows: Float64Array;
  readonly wrong: Float64Array;
}) {
  const actedSums = { acted: new Float64Array(101), actedWrong: new Float64Array(101) };
  let [actedCount, actedWrong] = [0, 0];
  for (let hundredths = 100; hundredths >= 0; hundredths -= 1) {
    actedSums.acted[hundredths] = actedCount += rows[hundredths] as number;
    actedSums.actedWrong[hundredths] = actedWrong += wrong[hundredths] as number;
  }
  return { rows, wrong, ...actedSums, total: actedCount };
}

/**
 * Returns risk and coverage of acting at each printed value and above, from the safest down, with the
 * exact 95 % interval of the risk.
 *
 * With weights, counts are scaled to the number of equal rows that have the same worth (Kish), and
 * the interval is no longer exact.
 */
export function riskCoverage(sureness: Numbers, wrong: Numbers, { weights }: Weighted = {}) {
  const { rows, acted: actedValues, actedWrong, total } = countRisks(sureness, wrong, { weights });
  const scale = effectiveRows(sureness.length, weights) / total;
  const printedValues = [...rows.keys()].filter((hundredths) => (rows[hundredths] as number) > 0);
  return printedValues.toReversed().map((hundredths) => {
    const [actedCount, wrongCount] = [
      actedValues[hundredths] as number,
      actedWrong[hundredths] as number,
    ];
    const { low, high } = clopperPearson(
      Math.min(wrongCount, actedCount) * scale,
      actedCount * scale,
    );
    const [coverage, risk] = [actedCount / total, wrongCount / actedCount];
    return {
      threshold: hundredths / 100,
      acted: actedCount,
      wrong: wrongCount,
      coverage,
      risk,
      low,
      high,
    };
  });
}

/** The costs of the two mistakes, in one unit. */
export interface Costs {
  /** Acting on a record that needs no act. */
  readonly falseAct: number;
  /** Not acting on a record that needs it. */
  readonly missedAct: number;
}

/**
 * Returns the threshold that costs least on these rows, from `lowest` up (of equals the highest; null if
 * it is never to act), its mean cost of a row, and the best threshold if the probabilities were true. On other rows it
 * costs more: of all thresholds it is the one that these rows favour.
 */
export function costThreshold(
  sureness: Numbers,
  wrong: Numbers,
  { falseAct, missedAct, weights, lowest = 0 }: Costs & Weighted & { readonly lowest?: number },
) {
  for (const [costName, costValue] of Object.entries({ falseAct, missedAct })) {
    if (costValue > 0 && costValue < Infinity) continue;
    rejectValue(costName, costValue, "a positive number");
  }
  const { rows, acted: actedCount, actedWrong, total } = countRisks(sureness, wrong, { weights });
  const rightWeight = total - (actedWrong[0] as number);
  let [threshold, bestCost]: [number | null, number] = [null, (missedAct * rightWeight) / total];
  for (let hundredths = 100; hundredths >= toHundredths(lowest); hundredths -= 1) {
    if (rows[hundredths] === 0) continue;
    const missedValue =
      rightWeight - ((actedCount[hundredths] as number) - (actedWrong[hundredths] as number));
    const meanCost =
      (falseAct * (actedWrong[hundredths] as number) + missedAct * missedValue) / total;
    if (meanCost < bestCost - 1e-12) [threshold, bestCost] = [hundredths / 100, meanCost];
  }
  return { threshold, cost: bestCost, theory: falseAct / (falseAct + missedAct) };
}

/**
 * Returns the lowest printed value above which the wrong acts, as a share of all rows, stay at most
 * `maxRisk` on average (conformal risk control), or null. It promises less than {@link learnThenTest}.
 */
export function conformalRiskControl(
  sureness: Numbers,
  wrong: Numbers,
  { maxRisk }: { readonly maxRisk: number },
): number | null {
  checkShare("maxRisk", maxRisk);
  const { rows, actedWrong, total } = countRisks(sureness, wrong);
  let threshold: number | null = null;
  for (let hundredths = 100; hundredths >= 0; hundredths -= 1) {
    // The next row counts as wrong: without it, the mean over future rows could be above.
    if (((actedWrong[hundredths] as number) + 1) / (total + 1) > maxRisk) break;
    if ((rows[hundredths] as number) > 0) threshold = hundredths / 100;
  }
  return threshold;
}
