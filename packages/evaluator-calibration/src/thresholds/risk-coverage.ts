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
  const counts = { rows: new Float64Array(101), wrong: new Float64Array(101) };
  for (let i = 0; i < sureness.length; i += 1) {
    const at = toHundredths(sureness[i] as number);
    const weight = weights === undefined ? 1 : (weights[i] as number);
    counts.rows[at] = (counts.rows[at] as number) + weight;
    if (wrong[i] === 1) counts.wrong[at] = (counts.wrong[at] as number) + weight;
  }
  return cumulate(counts);
}

/** Returns a printed value as a whole number of hundredths. */
export function toHundredths(value: number): number {
  return Math.round(100 * value);
}

/** Returns 1 − p rounded again: 1 − 0.83 is not the number that is printed as 0.17. */
export function complement(p: number): number {
  return Math.round(1e12 * (1 - p)) / 1e12;
}

/** Returns the counts of rows and wrong rows at each hundredth, and their sums at it and above. */
export function cumulate({
  rows,
  wrong,
}: {
  readonly rows: Float64Array;
  readonly wrong: Float64Array;
}) {
  const sums = { acted: new Float64Array(101), actedWrong: new Float64Array(101) };
  let [actedCount, actedWrong] = [0, 0];
  for (let at = 100; at >= 0; at -= 1) {
    sums.acted[at] = actedCount += rows[at] as number;
    sums.actedWrong[at] = actedWrong += wrong[at] as number;
  }
  return { rows, wrong, ...sums, total: actedCount };
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
  const printedValues = [...rows.keys()].filter((at) => (rows[at] as number) > 0);
  return printedValues.toReversed().map((at) => {
    const [all, bad] = [actedValues[at] as number, actedWrong[at] as number];
    const { low, high } = clopperPearson(Math.min(bad, all) * scale, all * scale);
    const [coverage, risk] = [all / total, bad / all];
    return { threshold: at / 100, acted: all, wrong: bad, coverage, risk, low, high };
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
  for (const [name, cost] of Object.entries({ falseAct, missedAct })) {
    if (cost > 0 && cost < Infinity) continue;
    rejectValue(name, cost, "a positive number");
  }
  const { rows, acted: actedCount, actedWrong, total } = countRisks(sureness, wrong, { weights });
  const ones = total - (actedWrong[0] as number);
  let [threshold, best]: [number | null, number] = [null, (missedAct * ones) / total];
  for (let at = 100; at >= toHundredths(lowest); at -= 1) {
    if (rows[at] === 0) continue;
    const missedValue = ones - ((actedCount[at] as number) - (actedWrong[at] as number));
    const cost = (falseAct * (actedWrong[at] as number) + missedAct * missedValue) / total;
    if (cost < best - 1e-12) [threshold, best] = [at / 100, cost];
  }
  return { threshold, cost: best, theory: falseAct / (falseAct + missedAct) };
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
  for (let at = 100; at >= 0; at -= 1) {
    // The next row counts as wrong: without it, the mean over future rows could be above.
    if (((actedWrong[at] as number) + 1) / (total + 1) > maxRisk) break;
    if ((rows[at] as number) > 0) threshold = at / 100;
  }
  return threshold;
}
