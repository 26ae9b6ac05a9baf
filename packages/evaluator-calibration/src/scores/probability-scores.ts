import {
  checkIndexes,
  checkRows,
  computeSum,
  effectiveRows,
  type Numbers,
  rejectValue,
  type Weighted,
  weightedMean,
} from "../math/rows.ts";
import { twoSidedP, Z_OF_95 } from "../math/special-functions.ts";
import { mixPositives, poolRows } from "../math/pool.ts";
import { DEFAULT_SEED, seededRandom } from "../math/random.ts";

/** Half a unit of the printed precision: a printed 0 is anything below it. */
export const HALF_A_PRINTED_UNIT = 0.005;

/** How a log loss is taken. */
interface LogLossOptions extends Weighted {
  /** A true side counts as at least this probability, and as at most 1 minus it. @default 0.005 */
  readonly clip?: number | undefined;
}

/**
 * Returns the mean squared distance of probability and truth, from 0 to 1.
 *
 * @throws RangeError that names the first invalid row.
 * @example brierScore([0.9, 0.2], [1, 0]) // 0.025
 */
export function brierScore(p: Numbers, truth: Numbers, { weights }: Weighted = {}): number {
  checkRows(p, truth, { weights });
  return weightedMean(p.length, weights, (i) => ((p[i] as number) - (truth[i] as number)) ** 2);
}

/**
 * Returns the mean of −ln of the true side's probability (`value`, in nats), clipped at half a printed unit;
 * how many rows were clipped, and how many of these had a true side printed as (nearly) impossible.
 *
 * @throws RangeError that names the first invalid row, or the clip.
 * @example logLoss([0.9, 0.2], [1, 0]).value // 0.164…
 */
export function logLoss(p: Numbers, truth: Numbers, options: LogLossOptions = {}) {
  checkRows(p, truth, options);
  const trueSide = (i: number) => (truth[i] === 1 ? (p[i] as number) : 1 - (p[i] as number));
  return clippedLogLoss(p.length, trueSide, options);
}

/**
 * Returns the log loss of rows whose true side is known.
 *
 * A printed 1 is anything from 0.995: on simulated answers this clip costs about 0.1 % against the
 * unrounded log loss, one at 1e-15 more than ten times as much.
 */
export function clippedLogLoss(
  length: number,
  trueSide: (index: number) => number,
  { weights, clip = HALF_A_PRINTED_UNIT }: LogLossOptions,
) {
  if (!(clip > 0 && clip < 0.5)) {
    rejectValue("clip", clip, "a number above 0 and below 0.5");
  }
  let [clippedCount, clippedAndWrong] = [0, 0];
  const value = weightedMean(length, weights, (i) => {
    const probability = trueSide(i);
    if (probability < clip) clippedAndWrong += 1;
    if (probability < clip || probability > 1 - clip) clippedCount += 1;
    return -Math.log(Math.min(Math.max(probability, clip), 1 - clip));
  });
  return { value, clipped: clippedCount, clippedAndWrong };
}

/**
 * Returns Spiegelhalter's test that the probabilities are calibrated: z above 0 means that they are too
 * extreme (too far from the base rate), z below 0 that they are not extreme enough.
 */
export function spiegelhalter(p: Numbers, truth: Numbers): { z: number; pValue: number } {
  checkRows(p, truth);
  let [distance, variance] = [0, 0];
  for (let i = 0; i < p.length; i += 1) {
    const probability = p[i] as number;
    const slope = 1 - 2 * probability;
    distance += ((truth[i] as number) - probability) * slope;
    variance += slope ** 2 * probability * (1 - probability);
  }
  const z = distance === 0 ? 0 : distance / Math.sqrt(variance);
  return { z, pValue: twoSidedP(z) };
}

/**
 * Returns the area under the ROC curve, the probability that a row of truth 1 has the higher value (ties
 * half), with DeLong's 95 % interval; all NaN if every row has the same truth.
 *
 * DeLong's variance is taken over pooled values: of a million printed rows that is 101 of them.
 */
export function rocAuc(p: Numbers, truth: Numbers, { weights }: Weighted = {}) {
  checkRows(p, truth, { weights });
  const pool = poolRows(p, truth, weights === undefined ? undefined : toEffective(weights));
  const ones = pool.positives;
  const zeros = pool.weights.map((weight, index) => weight - (ones[index] as number));
  const [allOnes, allZeros] = [computeSum(ones), computeSum(zeros)];
  if (allOnes === 0 || allZeros === 0) {
    return { auc: Number.NaN, standardError: Number.NaN, low: Number.NaN, high: Number.NaN };
  }
  const overZeros = sharesBelow(zeros, allZeros);
  const overOnes = sharesBelow(ones, allOnes);
  const auc = weightedMean(ones.length, ones, (i) => overZeros[i] as number);
  const standardError = Math.sqrt(
    varianceOfMean(overZeros, ones, auc) + varianceOfMean(overOnes, zeros, 1 - auc),
  );
  const half = Z_OF_95 * standardError;
  return { auc, standardError, low: Math.max(0, auc - half), high: Math.min(1, auc + half) };
}

/** If none of the few is as high, or more of the most than are by chance in 2.5 %, others would change no verdict. */
const PERMUTATIONS = { few: 399, most: 1999, byChance: 50 };

/**
 * Returns how often the rows with a truth would be as high in the order of the printed values by chance: a one-sided rank test,
 * exact with few rows and ties (Mann and Whitney, by permutations). If the values show nothing about the truths, that holds
 * for any draw by the values, so rows of `pick` need no weights.
 */
export function orderPValue(p: Numbers, truth: Numbers): number {
  const pool = poolRows(p, truth);
  const ranks = sharesBelow(pool.counts, p.length);
  const toSum = (positives: Numbers) =>
    ranks.reduce((sum, rank, i) => sum + rank * (positives[i] as number), 0);
  const least = toSum(pool.positives) - 1e-9;
  const random = seededRandom(DEFAULT_SEED);
  let [asHigh, round] = [1, 0];
  while (round < PERMUTATIONS.most && asHigh <= PERMUTATIONS.byChance) {
    round += 1;
    if (toSum(mixPositives(pool, random)) >= least) asHigh += 1;
    if (round === PERMUTATIONS.few && asHigh === 1) break;
  }
  return asHigh / (round + 1);
}

/** Weights whose sum is the number of equal rows with the same worth (Kish). */
function toEffective(weights: Numbers): Float64Array {
  const list = Float64Array.from(weights);
  const scale = effectiveRows(list.length, list) / computeSum(list);
  return list.map((weight) => weight * scale);
}

/** The share of the mass below each value, and half of that at it. */
function sharesBelow(masses: Float64Array, total: number): Float64Array {
  let below = 0;
  return masses.map((mass) => {
    below += mass;
    return (below - mass / 2) / total;
  });
}

function varianceOfMean(values: Float64Array, masses: Float64Array, mean: number): number {
  const square = (i: number) => ((values[i] as number) - mean) ** 2;
  return weightedMean(values.length, masses, square) / (computeSum(masses) - 1);
}

/**
 * Returns how far two labelers agree beyond chance (Cohen's kappa); 1 is full agreement, NaN if both
 * give one and the same label to all. Labels are whole numbers; `quadratic` weighs a disagreement by
 * the square of their distance, as levels need.
 *
 * @example cohenKappa([1, 1, 0, 0], [1, 0, 0, 0]) // 0.5
 */
export function cohenKappa(
  a: Numbers,
  b: Numbers,
  { weights = "none" }: { readonly weights?: "none" | "quadratic" } = {},
): number {
  checkIndexes(["a", a], ["b", b]);
  const distance = (one: number, other: number) =>
    weights === "quadratic" ? (one - other) ** 2 : Number(one !== other);
  let [observedValue, byChance] = [0, 0];
  for (let i = 0; i < a.length; i += 1) observedValue += distance(a[i] as number, b[i] as number);
  for (const [one, { length: n }] of byLabel(a)) {
    for (const [other, { length: m }] of byLabel(b)) {
      byChance += distance(one, other) * n * (m / a.length);
    }
  }
  return byChance === 0 ? Number.NaN : 1 - observedValue / byChance;
}

function byLabel(labels: Numbers): Map<number, number[]> {
  return Map.groupBy(Array.from(labels), (label) => label);
}
