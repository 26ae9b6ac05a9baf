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
  return weightedMean(
    p.length,
    weights,
    (rowIndex) => ((p[rowIndex] as number) - (truth[rowIndex] as number)) ** 2,
  );
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
  const trueSide = (rowIndex: number) =>
    truth[rowIndex] === 1 ? (p[rowIndex] as number) : 1 - (p[rowIndex] as number);
  return clippedLogLoss(p.length, trueSide, options);
}

/**
 * Returns the log loss of rows whose true side is known.
 *
 * A printed 1 is anything from 0.995: on simulated answers this clip costs about 0.1 % against the
 * unrounded log loss, one at 1e-15 more than ten times as much.
 */
export function clippedLogLoss(
  rowCount: number,
  trueSide: (index: number) => number,
  { weights, clip = HALF_A_PRINTED_UNIT }: LogLossOptions,
) {
  if (!(clip > 0 && clip < 0.5)) {
    rejectValue("clip", clip, "a number above 0 and below 0.5");
  }
  let [clippedCount, clippedAndWrong] = [0, 0];
  const meanLoss = weightedMean(rowCount, weights, (rowIndex) => {
    const probability = trueSide(rowIndex);
    if (probability < clip) clippedAndWrong += 1;
    if (probability < clip || probability > 1 - clip) clippedCount += 1;
    return -Math.log(Math.min(Math.max(probability, clip), 1 - clip));
  });
  return { value: meanLoss, clipped: clippedCount, clippedAndWrong };
}

/**
 * Returns Spiegelhalter's test that the probabilities are calibrated: z above 0 means that they are too
 * extreme (too far from the base rate), z below 0 that they are not extreme enough.
 */
export function spiegelhalter(p: Numbers, truth: Numbers): { z: number; pValue: number } {
  checkRows(p, truth);
  let [distance, variance] = [0, 0];
  for (let rowIndex = 0; rowIndex < p.length; rowIndex += 1) {
    const probability = p[rowIndex] as number;
    const slope = 1 - 2 * probability;
    distance += ((truth[rowIndex] as number) - probability) * slope;
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
  const pooledRows = poolRows(p, truth, weights === undefined ? undefined : toEffective(weights));
  const oneWeights = pooledRows.positives;
  const zeroWeights = pooledRows.weights.map(
    (valueWeight, valueIndex) => valueWeight - (oneWeights[valueIndex] as number),
  );
  const [allOnes, allZeros] = [computeSum(oneWeights), computeSum(zeroWeights)];
  if (allOnes === 0 || allZeros === 0) {
    return { auc: Number.NaN, standardError: Number.NaN, low: Number.NaN, high: Number.NaN };
  }
  const overZeros = sharesBelow(zeroWeights, allZeros);
  const overOnes = sharesBelow(oneWeights, allOnes);
  const auc = weightedMean(
    oneWeights.length,
    oneWeights,
    (valueIndex) => overZeros[valueIndex] as number,
  );
  const standardError = Math.sqrt(
    varianceOfMean(overZeros, oneWeights, auc) + varianceOfMean(overOnes, zeroWeights, 1 - auc),
  );
  const halfWidth = Z_OF_95 * standardError;
  return {
    auc,
    standardError,
    low: Math.max(0, auc - halfWidth),
    high: Math.min(1, auc + halfWidth),
  };
}

/** If none of the few is as high, or more of the most than are by chance in 2.5 %, others would change no verdict. */
const PERMUTATIONS = { few: 399, most: 1999, byChance: 50 };

/** The p-value of an order that no permutation reached: it is not known how much less it is. */
export const LEAST_ORDER_P_VALUE = 1 / (PERMUTATIONS.few + 1);

/**
 * Returns how often the rows with a truth would be as high in the order of the printed values by chance: a one-sided rank test,
 * exact with few rows and ties (Mann and Whitney, by permutations). If the values show nothing about the truths, that holds
 * for any draw by the values, so rows of `pick` need no weights.
 */
export function orderPValue(p: Numbers, truth: Numbers): number {
  const pooledRows = poolRows(p, truth);
  const valueRanks = sharesBelow(pooledRows.counts, p.length);
  const toRankSum = (positives: Numbers) =>
    valueRanks.reduce(
      (runningSum, valueRank, valueIndex) =>
        runningSum + valueRank * (positives[valueIndex] as number),
      0,
    );
  const leastSum = toRankSum(pooledRows.positives) - 1e-9;
  const nextRandom = seededRandom(DEFAULT_SEED);
  let [highCount, roundCount] = [1, 0];
  while (roundCount < PERMUTATIONS.most && highCount <= PERMUTATIONS.byChance) {
    roundCount += 1;
    if (toRankSum(mixPositives(pooledRows, nextRandom)) >= leastSum) highCount += 1;
    if (roundCount === PERMUTATIONS.few && highCount === 1) break;
  }
  return highCount / (roundCount + 1);
}

/** Weights whose sum is the number of equal rows with the same worth (Kish). */
function toEffective(weights: Numbers): Float64Array {
  const weightList = Float64Array.from(weights);
  const scaleFactor = effectiveRows(weightList.length, weightList) / computeSum(weightList);
  return weightList.map((rowWeight) => rowWeight * scaleFactor);
}

/** The share of the mass below each value, and half of that at it. */
function sharesBelow(valueMasses: Float64Array, totalMass: number): Float64Array {
  let massBelow = 0;
  return valueMasses.map((valueMass) => {
    massBelow += valueMass;
    return (massBelow - valueMass / 2) / totalMass;
  });
}

function varianceOfMean(
  values: Float64Array,
  valueMasses: Float64Array,
  meanValue: number,
): number {
  const squaredDistance = (valueIndex: number) => ((values[valueIndex] as number) - meanValue) ** 2;
  return weightedMean(values.length, valueMasses, squaredDistance) / (computeSum(valueMasses) - 1);
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
  const distance = (firstLabel: number, secondLabel: number) =>
    weights === "quadratic" ? (firstLabel - secondLabel) ** 2 : Number(firstLabel !== secondLabel);
  let [observedValue, byChance] = [0, 0];
  for (let rowIndex = 0; rowIndex < a.length; rowIndex += 1)
    observedValue += distance(a[rowIndex] as number, b[rowIndex] as number);
  for (const [firstLabel, { length: n }] of byLabel(a)) {
    for (const [secondLabel, { length: m }] of byLabel(b)) {
      byChance += distance(firstLabel, secondLabel) * n * (m / a.length);
    }
  }
  return byChance === 0 ? Number.NaN : 1 - observedValue / byChance;
}

function byLabel(raterLabels: Numbers): Map<number, number[]> {
  return Map.groupBy(Array.from(raterLabels), (raterLabel) => raterLabel);
}
