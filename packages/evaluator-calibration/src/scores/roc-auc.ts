import { checkRows, type Numbers, type Weighted } from "../check-rows.ts";
import { poolRows } from "./pool.ts";

/** How well values order the rows, with DeLong's 95 % interval. */
export interface RocAuc {
  /** The probability that a row of truth 1 has the higher value, ties half. */
  readonly auc: number;
  readonly standardError: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Returns the area under the ROC curve; all NaN where every row has the same truth.
 *
 * DeLong's variance is taken over pooled values: of a million printed rows that is 101 of them.
 */
export function rocAuc(p: Numbers, truth: Numbers, { weights }: Weighted = {}): RocAuc {
  checkRows(p, truth, { weights });
  const pool = poolRows(p, truth, weights === undefined ? undefined : toEffective(weights));
  const ones = pool.positives;
  const zeros = pool.weights.map((weight, index) => weight - (ones[index] as number));
  const [allOnes, allZeros] = [ones.reduce(sumUp, 0), zeros.reduce(sumUp, 0)];
  if (allOnes === 0 || allZeros === 0) {
    return { auc: Number.NaN, standardError: Number.NaN, low: Number.NaN, high: Number.NaN };
  }
  const overZeros = sharesBelow(zeros).map((below) => below / allZeros);
  const underOnes = sharesBelow(ones).map((below) => 1 - below / allOnes);
  const auc = meanOf(overZeros, ones);
  const variance = spread(overZeros, ones, auc) + spread(underOnes, zeros, auc);
  const standardError = Math.sqrt(variance);
  const half = 1.959963984540054 * standardError;
  return { auc, standardError, low: Math.max(0, auc - half), high: Math.min(1, auc + half) };
}

/** Weights that sum up to as many equal rows as would be worth the same (Kish). */
function toEffective(weights: Numbers): Float64Array {
  const list = Float64Array.from(weights);
  const scale = list.reduce(sumUp, 0) / list.reduce((sum, weight) => sum + weight ** 2, 0);
  return list.map((weight) => weight * scale);
}

function sumUp(sum: number, value: number): number {
  return sum + value;
}

/** The mass below each value, and half of that at it. */
function sharesBelow(masses: Float64Array): Float64Array {
  let below = 0;
  return masses.map((mass) => {
    below += mass;
    return below - mass / 2;
  });
}

function meanOf(values: Float64Array, masses: Float64Array): number {
  let [sum, total] = [0, 0];
  for (let i = 0; i < values.length; i += 1) {
    sum += (values[i] as number) * (masses[i] as number);
    total += masses[i] as number;
  }
  return sum / total;
}

function spread(values: Float64Array, masses: Float64Array, mean: number): number {
  const squares = values.map((value) => (value - mean) ** 2);
  const total = masses.reduce(sumUp, 0);
  return (meanOf(squares, masses) * total) / (total - 1) / total;
}
