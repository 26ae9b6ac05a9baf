import type { Form } from "../kinds.ts";
import { effectiveRows, computeSum, weightedMean } from "../math/rows.ts";
import { clippedLogLoss, rocAuc, spiegelhalter } from "../scores/probability-scores.ts";
import { Z_OF_95 } from "../math/special-functions.ts";
import { aucInterval, clopperPearson } from "../thresholds/intervals.ts";
import {
  computeBrier,
  type Estimate,
  computeProbability,
  type Rows,
  shareOfRows,
} from "./labelled-rows.ts";

/** A Brier score sums over both options; that of a probability counts one of them. */
const brierParts: Readonly<Record<Form, number>> = { probability: 2, distribution: 1 };

/** Returns every score of labelled rows; NaN without rows. */
export function scoreRows(rows: Rows) {
  const { truth, top, weights, p, cameTrue, form, isOrdered } = rows;
  const n = truth.length;
  const shares = truthShares(rows);
  const distances = listDistances(rows, shares);
  const { mean: meanDistance, constant: meanConstant } = distances;
  const commonest = shares.indexOf(Math.max(...shares));
  return {
    /** 0 is the constant prediction, 1 is perfect; by ranked probability for levels, else by Brier score. */
    skill: toSkill(rows, distances),
    accuracy: shareOfRows(rows, (row) => top[row] === truth[row]),
    /** Of a probability 0 to 1, of a distribution summed over its options: 0 to 2. */
    brier: isOrdered
      ? weightedMean(n, weights, (i) => computeBrier(rows, i, truth[i] as number))
      : meanDistance,
    logLoss: clippedLogLoss(n, (i) => computeProbability(rows, i, truth[i] as number), { weights }),
    /** How well the probability orders the truths; of a distribution, that of the picked option. */
    auc: toOrder(p, cameTrue, weights),
    spiegelhalter:
      n > 0 && form === "probability" && weights === undefined ? spiegelhalter(p, cameTrue) : null,
    levels: isOrdered ? levelScores(rows, meanDistance) : null,
    /** The constant base-rate prediction on the same rows; `always` is the most frequent truth. */
    constant: {
      always: rows.options[commonest] ?? "",
      accuracy: shares[commonest] ?? 0,
      wrong: shareOfRows(rows, (row) => truth[row] !== commonest),
      brier: (1 - sumOfSquares(shares)) / brierParts[form],
      logLoss: clippedLogLoss(shares.length, (i) => shares[i] as number, { weights: shares }).value,
      rankedProbability: isOrdered ? meanConstant : null,
    },
  };
}

/** Returns the AUC with Newcombe's interval. */
function toOrder(p: Rows["p"], cameTrue: Rows["cameTrue"], weights: Rows["weights"]) {
  const effective = effectiveRows(p.length, weights);
  const share = p.length === 0 ? 0 : weightedMean(p.length, weights, (i) => cameTrue[i] as number);
  const [ones, zeros] = [effective * share, effective * (1 - share)];
  const rarer = Math.min(ones, zeros);
  const auc = rarer === 0 ? Number.NaN : rocAuc(p, cameTrue, { weights }).auc;
  return withLimits({ value: auc, ...aucInterval(auc, ones, zeros) }, rarer);
}

/** Two sums of the same numbers differ by less: answers that are all the base rate have a skill of 0, and 300 × (10 / 300) is 10. */
const ROUNDING = 1e-9;
/** With fewer rows of the rarer truth an interval would hold too seldom, so it is left out. */
const LEAST_OF_RARER = 10;

/** Returns an estimate; its limits are NaN if few rows have the rarer truth. */
function withLimits({ value, low, high }: Estimate, rarer: number): Estimate {
  return rarer < LEAST_OF_RARER - ROUNDING
    ? { value, low: Number.NaN, high: Number.NaN }
    : { value, low, high };
}

function sumOfSquares(shares: readonly number[]): number {
  return shares.reduce((sum, share) => sum + share ** 2, 0);
}

/** Returns the share of rows, by weight, that each option is the truth of. */
function truthShares({ options, truth, weights }: Rows): number[] {
  const sums = options.map(() => 0);
  let total = 0;
  for (const [i, option] of truth.entries()) {
    const weight = weights?.[i] ?? 1;
    sums[option] = (sums[option] ?? 0) + weight;
    total += weight;
  }
  return sums.map((sum) => sum / total);
}

/** Each row's own score, and that of the constant prediction by the truth of a row. */
function listDistances(rows: Rows, shares: readonly number[]) {
  const { truth, form, isOrdered } = rows;
  const squares = sumOfSquares(shares);
  const constants = shares.map((share, option) =>
    isOrdered
      ? rankedScore(option, shares.length, (level) => shares[level] as number)
      : (1 - 2 * share + squares) / brierParts[form],
  );
  const own = new Float64Array(truth.length);
  for (const [row, option] of truth.entries()) {
    own[row] = isOrdered
      ? rankedScore(option, shares.length, (level) => computeProbability(rows, row, level))
      : computeBrier(rows, row, option);
  }
  return {
    own,
    constants,
    mean: weightedMean(own.length, rows.weights, (i) => own[i] as number),
    constant: weightedMean(shares.length, shares, (option) => constants[option] as number),
    /** The share of the most frequent truth. */
    most: Math.max(...shares),
  };
}

type Distances = ReturnType<typeof listDistances>;

function rankedScore(truth: number, levels: number, probabilityAt: (level: number) => number) {
  let [sum, below] = [0, 0];
  for (let level = 0; level < levels - 1; level += 1) {
    below += probabilityAt(level);
    sum += (below - (truth <= level ? 1 : 0)) ** 2;
  }
  return sum;
}

/**
 * Returns 1 − the rows' mean score over that of the constant. Both move with the drawn rows: the limits are those of
 * the logarithm of their ratio (delta method).
 */
function toSkill(
  { truth, top, weights }: Rows,
  { own, constants, mean, constant, most }: Distances,
) {
  const n = truth.length;
  const effective = effectiveRows(n, weights);
  const rarer = effective * Math.min(most, 1 - most);
  const none = { value: Number.NaN, low: Number.NaN, high: Number.NaN };
  if (!(constant >= 1e-15)) return { ...none, isShown: false };
  const total = weights === undefined ? n : computeSum(weights);
  let squares = 0;
  for (let i = 0; i < n; i += 1) {
    const ofConstant = (constants[truth[i] as number] as number) / constant;
    const ofOwn = mean === 0 ? 1 : (own[i] as number) / mean;
    squares += ((weights?.[i] ?? 1) * (ofOwn - ofConstant)) ** 2;
  }
  const deviation = Math.sqrt((squares * n) / Math.max(1, n - 1)) / total;
  const factor = Math.exp(Z_OF_95 * deviation);
  // Without a wrong row the deviation shows nothing of how much one costs.
  const hasWrong = truth.some((option, i) => option !== top[i]);
  const worst = hasWrong ? 0 : mean + clopperPearson(0, effective).high;
  const low = 1 - Math.max(mean * factor, worst) / constant;
  const value = 1 - mean / constant;
  const limited = withLimits({ value, low, high: 1 - mean / factor / constant }, rarer);
  /** Whether these labels show it to be above that of the constant. */
  return { ...limited, isShown: low > ROUNDING };
}

function levelScores({ table, truth, weights }: Rows, rankedProbability: number) {
  const { width, values } = table;
  const means = Float64Array.from(truth, (_, row) => {
    let mean = 0;
    for (let level = 1; level < width; level += 1) {
      mean += level * (values[row * width + level] as number);
    }
    return mean;
  });
  const distance = (i: number) => Math.abs((means[i] as number) - (truth[i] as number));
  return {
    rankedProbability,
    meanAbsoluteError: weightedMean(truth.length, weights, distance),
    spearman: correlation(listRanks(means), listRanks(Float64Array.from(truth))),
  };
}

/** Ranks with the mean of equals. */
function listRanks(values: Float64Array): Float64Array {
  const order = Uint32Array.from(values, (_, i) => i);
  order.sort((one, other) => (values[one] as number) - (values[other] as number));
  const ranks = new Float64Array(values.length);
  for (let start = 0; start < order.length;) {
    let end = start;
    while (end < order.length && values[order[end] as number] === values[order[start] as number])
      end += 1;
    for (let i = start; i < end; i += 1) ranks[order[i] as number] = (start + end - 1) / 2;
    start = end;
  }
  return ranks;
}

function correlation(a: Float64Array, b: Float64Array): number {
  const [meanA, meanB] = [computeSum(a) / a.length, computeSum(b) / b.length];
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i += 1) {
    const [x, y] = [(a[i] as number) - meanA, (b[i] as number) - meanB];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / Math.sqrt(aa * bb);
}
