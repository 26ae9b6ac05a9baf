import {
  checkIndexes,
  checkLengths,
  checkProbabilities,
  checkWeights,
  effectiveRows,
  type Numbers,
  type Weighted,
} from "../check-rows.ts";
import { checkShare, clopperPearson } from "./intervals.ts";

/** What acting at a threshold and above comes to. */
export interface RiskCoveragePoint {
  readonly threshold: number;
  /** Rows acted on. */
  readonly acted: number;
  readonly wrong: number;
  /** Share of all rows that are acted on. */
  readonly coverage: number;
  /** Share of the acted-on rows that are wrong. */
  readonly risk: number;
  /** Limits of the exact 95 % interval of the risk. */
  readonly low: number;
  readonly high: number;
}

/** Rows and wrong rows at each printed value, by hundredths: 101 of each. */
export interface RiskCounts {
  readonly rows: Float64Array;
  readonly wrong: Float64Array;
  total: number;
}

/**
 * Returns rows and wrong rows at each printed value.
 *
 * In floating point `p >= 0.83` loses rows; so values are compared in hundredths, as they are printed.
 */
export function countRisks(
  confidence: Numbers,
  wrong: Numbers,
  { weights }: Weighted = {},
): RiskCounts {
  checkLengths(["confidence", confidence], ["wrong", wrong]);
  if (weights !== undefined) checkWeights(weights, wrong);
  const rows = new Float64Array(101);
  const wrongRows = new Float64Array(101);
  let total = 0;
  for (let i = 0; i < confidence.length; i += 1) {
    const value = confidence[i] as number;
    const isWrong = wrong[i] as number;
    // Checked on the way: of a million rows, each look at one counts.
    if (!(value >= 0 && value <= 1)) checkProbabilities(confidence, "confidence");
    if (isWrong !== 0 && isWrong !== 1) checkIndexes(wrong, 2, "wrong");
    const hundredth = toHundredths(value);
    const weight = weights === undefined ? 1 : (weights[i] as number);
    rows[hundredth] = (rows[hundredth] as number) + weight;
    if (isWrong === 1) wrongRows[hundredth] = (wrongRows[hundredth] as number) + weight;
    total += weight;
  }
  return { rows, wrong: wrongRows, total };
}

/** Returns a printed value as a whole number of hundredths. */
export function toHundredths(value: number): number {
  return Math.round(100 * value);
}

/** Returns the counts at each hundredth and above. */
export function cumulate({ rows, wrong }: RiskCounts): {
  acted: Float64Array;
  wrong: Float64Array;
} {
  const sums = { acted: new Float64Array(101), wrong: new Float64Array(101) };
  let actedSum = 0;
  let wrongSum = 0;
  for (let at = 100; at >= 0; at -= 1) {
    sums.acted[at] = actedSum += rows[at] as number;
    sums.wrong[at] = wrongSum += wrong[at] as number;
  }
  return sums;
}

/**
 * Returns risk and coverage of acting at each printed value and above, from the safest down.
 *
 * With weights, counts are scaled to as many equal rows as the weighted ones are worth (Kish), and
 * the interval is no longer exact.
 */
export function riskCoverage(
  confidence: Numbers,
  wrong: Numbers,
  { weights }: Weighted = {},
): RiskCoveragePoint[] {
  const counts = countRisks(confidence, wrong, { weights });
  const sums = cumulate(counts);
  const scale = effectiveRows(confidence.length, weights) / counts.total;
  const printed = [...counts.rows.keys()].filter((at) => (counts.rows[at] as number) > 0);
  return printed.toReversed().map((at) => {
    const [acted, bad] = [sums.acted[at] as number, sums.wrong[at] as number];
    const { low, high } = clopperPearson(Math.min(bad, acted) * scale, acted * scale);
    const [coverage, risk] = [acted / counts.total, bad / acted];
    return { threshold: at / 100, acted, wrong: bad, coverage, risk, low, high };
  });
}

/** What a threshold costs. */
export interface CostThreshold {
  /** Act at this value and above; Infinity where never acting costs least. */
  readonly threshold: number;
  /** Mean cost of a row there. */
  readonly cost: number;
  /** The threshold that would cost least if the probabilities were true: falseAct / (falseAct + missedAct). */
  readonly theory: number;
}

/** What the two mistakes cost, in one unit. */
export interface Costs {
  /** Acting where one should not. */
  readonly falseAct: number;
  /** Not acting where one should. */
  readonly missedAct: number;
}

/** Returns the threshold that costs least on these rows, of the printed values from `lowest` on; of equals the highest. */
export function costThreshold(
  p: Numbers,
  truth: Numbers,
  { falseAct, missedAct, weights, lowest = 0 }: Costs & Weighted & { readonly lowest?: number },
): CostThreshold {
  for (const [name, cost] of Object.entries({ falseAct, missedAct })) {
    if (!(cost > 0 && cost < Infinity)) {
      throw new RangeError(`${name} is ${cost}; it must be a positive number.`);
    }
  }
  checkIndexes(truth, 2);
  const isFalse = Uint8Array.from({ length: truth.length }, (_, i) => 1 - (truth[i] as number));
  const counts = countRisks(p, isFalse, { weights });
  const sums = cumulate(counts);
  const ones = counts.total - (sums.wrong[0] as number);
  let best = { threshold: Infinity, cost: (missedAct * ones) / counts.total };
  for (let at = 100; at >= toHundredths(lowest); at -= 1) {
    if (counts.rows[at] === 0) continue;
    const [acted, wrong] = [sums.acted[at] as number, sums.wrong[at] as number];
    const cost = (falseAct * wrong + missedAct * (ones - (acted - wrong))) / counts.total;
    if (cost < best.cost - 1e-12) best = { threshold: at / 100, cost };
  }
  return { ...best, theory: falseAct / (falseAct + missedAct) };
}

/**
 * Returns the lowest printed value above which the wrong acts, as a share of all rows, stay at most
 * `maxRisk` on average (conformal risk control), or null. It promises less than {@link learnThenTest}.
 */
export function conformalRiskControl(
  confidence: Numbers,
  wrong: Numbers,
  { maxRisk }: { readonly maxRisk: number },
): number | null {
  checkShare("maxRisk", maxRisk);
  const counts = countRisks(confidence, wrong);
  const sums = cumulate(counts);
  let threshold: number | null = null;
  for (let at = 100; at >= 0; at -= 1) {
    // The row to come counts as wrong: without it, the mean over rows to come could lie above.
    if (((sums.wrong[at] as number) + 1) / (counts.total + 1) > maxRisk) break;
    if ((counts.rows[at] as number) > 0) threshold = at / 100;
  }
  return threshold;
}
