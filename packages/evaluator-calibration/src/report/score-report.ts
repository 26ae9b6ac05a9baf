import type { Form } from "../kinds.ts";
import { effectiveRows, sumOf, weightedMean } from "../math/rows.ts";
import { clippedLogLoss, rocAuc, spiegelhalter } from "../scores/probability-scores.ts";
import { aucInterval } from "../thresholds/intervals.ts";
import { brierOf, type Estimate, probabilityOf, type Rows, shareOfRows } from "./labelled-rows.ts";

/** A Brier score sums over both options; that of a probability counts one of them. */
const brierParts: Readonly<Record<Form, number>> = { probability: 2, distribution: 1 };

/** Returns every score of labelled rows; NaN without rows. */
export function scoreRows(rows: Rows) {
  const { truth, top, weights, p, cameTrue, form, isOrdered } = rows;
  const n = truth.length;
  const shares = truthShares(rows);
  const { own, constants } = distancesOf(rows, shares);
  const meanDistance = weightedMean(n, weights, (i) => own[i] as number);
  const meanConstant = weightedMean(shares.length, shares, (option) => constants[option] as number);
  const commonest = shares.indexOf(Math.max(...shares));
  return {
    /** 0 is the constant prediction, 1 is perfect; by ranked probability for levels, else by Brier score. */
    skill: skillOf(
      rows,
      (i) => (constants[truth[i] as number] as number) - (own[i] as number),
      meanConstant,
    ),
    accuracy: shareOfRows(rows, (row) => top[row] === truth[row]),
    /** Of a probability 0 to 1, of a distribution summed over its options: 0 to 2. */
    brier: isOrdered ? weightedMean(n, weights, (i) => brierOf(rows, i)) : meanDistance,
    logLoss: clippedLogLoss(n, (i) => probabilityOf(rows, i, truth[i] as number), { weights }),
    /** How well the probability orders the truths; of a distribution, that of the picked option. */
    auc: n === 0 ? noOrder : orderOf(p, cameTrue, weights),
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

const noOrder = { auc: Number.NaN, low: Number.NaN, high: Number.NaN, rarer: 0 };

/** Returns the AUC with Newcombe's interval, and the number of rows of the rarer truth. */
function orderOf(p: Rows["p"], cameTrue: Rows["cameTrue"], weights: Rows["weights"]) {
  const { auc } = rocAuc(p, cameTrue, { weights });
  const effective = effectiveRows(p.length, weights);
  const share = weightedMean(p.length, weights, (i) => cameTrue[i] as number);
  const [ones, zeros] = [effective * share, effective * (1 - share)];
  return { auc, ...aucInterval(auc, ones, zeros), rarer: Math.min(ones, zeros) };
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
function distancesOf(rows: Rows, shares: readonly number[]) {
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
      ? rankedScore(option, shares.length, (level) => probabilityOf(rows, row, level))
      : brierOf(rows, row);
  }
  return { own, constants };
}

function rankedScore(truth: number, levels: number, probabilityAt: (level: number) => number) {
  let [sum, below] = [0, 0];
  for (let level = 0; level < levels - 1; level += 1) {
    below += probabilityAt(level);
    sum += (below - (truth <= level ? 1 : 0)) ** 2;
  }
  return sum;
}

/** The interval is that of the mean gain, the difference of the constant's score and a row's own. */
function skillOf(
  { truth: { length: n }, weights }: Rows,
  gainOf: (row: number) => number,
  constant: number,
): Estimate {
  if (constant < 1e-15) return { value: Number.NaN, low: Number.NaN, high: Number.NaN };
  const gain = weightedMean(n, weights, gainOf);
  const total = weights === undefined ? n : sumOf(weights);
  let squares = 0;
  for (let i = 0; i < n; i += 1) squares += ((weights?.[i] ?? 1) * (gainOf(i) - gain)) ** 2;
  const half = (1.96 * Math.sqrt((squares * n) / Math.max(1, n - 1))) / total / constant;
  const value = gain / constant;
  return { value, low: value - half, high: Math.min(1, value + half) };
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
    rankedProbabilityNormalized: width < 2 ? 0 : rankedProbability / (width - 1),
    meanAbsoluteError: weightedMean(truth.length, weights, distance),
    spearman: correlation(ranksOf(means), ranksOf(Float64Array.from(truth))),
  };
}

/** Ranks with the mean of equals. */
function ranksOf(values: Float64Array): Float64Array {
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
  const [meanA, meanB] = [sumOf(a) / a.length, sumOf(b) / b.length];
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i += 1) {
    const [x, y] = [(a[i] as number) - meanA, (b[i] as number) - meanB];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / Math.sqrt(aa * bb);
}
