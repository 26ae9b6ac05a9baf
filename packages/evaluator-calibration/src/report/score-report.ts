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
export function scoreRows(labelledRows: Rows) {
  const { truth, top, weights, p, cameTrue, form, isOrdered } = labelledRows;
  const rowCount = truth.length;
  const optionShares = truthShares(labelledRows);
  const distances = listDistances(labelledRows, optionShares);
  const { mean: meanDistance, constant: meanConstant } = distances;
  const commonest = optionShares.indexOf(Math.max(...optionShares));
  return {
    /** 0 is the constant prediction, 1 is perfect; by ranked probability for levels, else by Brier score. */
    skill: toSkill(labelledRows, distances),
    accuracy: shareOfRows(labelledRows, (rowIndex) => top[rowIndex] === truth[rowIndex]),
    /** Of a probability 0 to 1, of a distribution summed over its options: 0 to 2. */
    brier: isOrdered
      ? weightedMean(rowCount, weights, (rowIndex) =>
          computeBrier(labelledRows, rowIndex, truth[rowIndex] as number),
        )
      : meanDistance,
    logLoss: clippedLogLoss(
      rowCount,
      (rowIndex) => computeProbability(labelledRows, rowIndex, truth[rowIndex] as number),
      { weights },
    ),
    /** How well the probability orders the truths; of a distribution, that of the picked option. */
    auc: toOrder(p, cameTrue, weights),
    spiegelhalter:
      rowCount > 0 && form === "probability" && weights === undefined
        ? spiegelhalter(p, cameTrue)
        : null,
    levels: isOrdered ? levelScores(labelledRows, meanDistance) : null,
    /** The constant base-rate prediction on the same rows; `always` is the most frequent truth. */
    constant: {
      always: labelledRows.options[commonest] ?? "",
      accuracy: optionShares[commonest] ?? 0,
      wrong: shareOfRows(labelledRows, (rowIndex) => truth[rowIndex] !== commonest),
      brier: (1 - sumOfSquares(optionShares)) / brierParts[form],
      logLoss: clippedLogLoss(
        optionShares.length,
        (optionIndex) => optionShares[optionIndex] as number,
        { weights: optionShares },
      ).value,
      rankedProbability: isOrdered ? meanConstant : null,
    },
  };
}

/** Returns the AUC with Newcombe's interval. */
function toOrder(probabilities: Rows["p"], cameTrue: Rows["cameTrue"], weights: Rows["weights"]) {
  const effective = effectiveRows(probabilities.length, weights);
  const trueShare =
    probabilities.length === 0
      ? 0
      : weightedMean(probabilities.length, weights, (rowIndex) => cameTrue[rowIndex] as number);
  const [oneCount, zeroCount] = [effective * trueShare, effective * (1 - trueShare)];
  const rarerCount = Math.min(oneCount, zeroCount);
  const aucValue = rarerCount === 0 ? Number.NaN : rocAuc(probabilities, cameTrue, { weights }).auc;
  return withLimits({ value: aucValue, ...aucInterval(aucValue, oneCount, zeroCount) }, rarerCount);
}

/** Two sums of the same numbers differ by less: answers that are all the base rate have a skill of 0, and 300 × (10 / 300) is 10. */
const ROUNDING = 1e-9;
/** With fewer rows of the rarer truth an interval would hold too seldom, so it is left out. */
const LEAST_OF_RARER = 10;

/** Returns an estimate; its limits are NaN if few rows have the rarer truth. */
function withLimits({ value, low, high }: Estimate, rarerCount: number): Estimate {
  return rarerCount < LEAST_OF_RARER - ROUNDING
    ? { value, low: Number.NaN, high: Number.NaN }
    : { value, low, high };
}

function sumOfSquares(optionShares: readonly number[]): number {
  return optionShares.reduce((runningSum, optionShare) => runningSum + optionShare ** 2, 0);
}

/** Returns the share of rows, by weight, that each option is the truth of. */
function truthShares({ options, truth, weights }: Rows): number[] {
  const weightSums = options.map(() => 0);
  let totalWeight = 0;
  for (const [rowIndex, trueOption] of truth.entries()) {
    const rowWeight = weights?.[rowIndex] ?? 1;
    weightSums[trueOption] = (weightSums[trueOption] ?? 0) + rowWeight;
    totalWeight += rowWeight;
  }
  return weightSums.map((weightSum) => weightSum / totalWeight);
}

/** Each row's own score, and that of the constant prediction by the truth of a row. */
function listDistances(labelledRows: Rows, optionShares: readonly number[]) {
  const { truth, form, isOrdered } = labelledRows;
  const squares = sumOfSquares(optionShares);
  const constants = optionShares.map((optionShare, optionIndex) =>
    isOrdered
      ? rankedScore(optionIndex, optionShares.length, (level) => optionShares[level] as number)
      : (1 - 2 * optionShare + squares) / brierParts[form],
  );
  const ownDistances = new Float64Array(truth.length);
  for (const [rowIndex, trueOption] of truth.entries()) {
    ownDistances[rowIndex] = isOrdered
      ? rankedScore(trueOption, optionShares.length, (level) =>
          computeProbability(labelledRows, rowIndex, level),
        )
      : computeBrier(labelledRows, rowIndex, trueOption);
  }
  return {
    own: ownDistances,
    constants,
    mean: weightedMean(
      ownDistances.length,
      labelledRows.weights,
      (rowIndex) => ownDistances[rowIndex] as number,
    ),
    constant: weightedMean(
      optionShares.length,
      optionShares,
      (optionIndex) => constants[optionIndex] as number,
    ),
    /** The share of the most frequent truth. */
    most: Math.max(...optionShares),
  };
}

type Distances = ReturnType<typeof listDistances>;

function rankedScore(
  trueLevel: number,
  levelCount: number,
  probabilityAt: (level: number) => number,
) {
  let [squareSum, cumulative] = [0, 0];
  for (let level = 0; level < levelCount - 1; level += 1) {
    cumulative += probabilityAt(level);
    squareSum += (cumulative - (trueLevel <= level ? 1 : 0)) ** 2;
  }
  return squareSum;
}

/**
 * Returns 1 − the rows' mean score over that of the constant. Both move with the drawn rows: the limits are those of
 * the logarithm of their ratio (delta method).
 */
function toSkill(
  { truth, top, weights }: Rows,
  { own, constants, mean: meanDistance, constant, most }: Distances,
) {
  const rowCount = truth.length;
  const effective = effectiveRows(rowCount, weights);
  const rarerCount = effective * Math.min(most, 1 - most);
  const noEstimate = { value: Number.NaN, low: Number.NaN, high: Number.NaN };
  if (!(constant >= 1e-15)) return { ...noEstimate, isShown: false };
  const totalWeight = weights === undefined ? rowCount : computeSum(weights);
  let squares = 0;
  for (let rowIndex = 0; rowIndex < rowCount; rowIndex += 1) {
    const constantRatio = (constants[truth[rowIndex] as number] as number) / constant;
    const ownRatio = meanDistance === 0 ? 1 : (own[rowIndex] as number) / meanDistance;
    squares += ((weights?.[rowIndex] ?? 1) * (ownRatio - constantRatio)) ** 2;
  }
  const deviation = Math.sqrt((squares * rowCount) / Math.max(1, rowCount - 1)) / totalWeight;
  const factor = Math.exp(Z_OF_95 * deviation);
  // Without a wrong row the deviation shows nothing of how much one costs.
  const hasWrong = truth.some((trueOption, rowIndex) => trueOption !== top[rowIndex]);
  const worstMean = hasWrong ? 0 : meanDistance + clopperPearson(0, effective).high;
  const low = 1 - Math.max(meanDistance * factor, worstMean) / constant;
  const value = 1 - meanDistance / constant;
  const limited = withLimits(
    { value, low, high: 1 - meanDistance / factor / constant },
    rarerCount,
  );
  /** Whether these labels show it to be above that of the constant. */
  return { ...limited, isShown: low > ROUNDING };
}

function levelScores({ table, truth, weights }: Rows, rankedProbability: number) {
  const { width, values } = table;
  const levelMeans = Float64Array.from(truth, (_, rowIndex) => {
    let levelMean = 0;
    for (let level = 1; level < width; level += 1) {
      levelMean += level * (values[rowIndex * width + level] as number);
    }
    return levelMean;
  });
  const distance = (rowIndex: number) =>
    Math.abs((levelMeans[rowIndex] as number) - (truth[rowIndex] as number));
  return {
    rankedProbability,
    meanAbsoluteError: weightedMean(truth.length, weights, distance),
    spearman: correlation(listRanks(levelMeans), listRanks(Float64Array.from(truth))),
  };
}

/** Ranks with the mean of equals. */
function listRanks(rankedValues: Float64Array): Float64Array {
  const valueOrder = Uint32Array.from(rankedValues, (_, i) => i);
  valueOrder.sort(
    (firstIndex, secondIndex) =>
      (rankedValues[firstIndex] as number) - (rankedValues[secondIndex] as number),
  );
  const meanRanks = new Float64Array(rankedValues.length);
  for (let tieStart = 0; tieStart < valueOrder.length;) {
    let tieEnd = tieStart;
    while (
      tieEnd < valueOrder.length &&
      rankedValues[valueOrder[tieEnd] as number] === rankedValues[valueOrder[tieStart] as number]
    )
      tieEnd += 1;
    for (let position = tieStart; position < tieEnd; position += 1)
      meanRanks[valueOrder[position] as number] = (tieStart + tieEnd - 1) / 2;
    tieStart = tieEnd;
  }
  return meanRanks;
}

function correlation(firstRanks: Float64Array, secondRanks: Float64Array): number {
  const [firstMean, secondMean] = [
    computeSum(firstRanks) / firstRanks.length,
    computeSum(secondRanks) / secondRanks.length,
  ];
  let [crossSum, firstSquares, secondSquares] = [0, 0, 0];
  for (let rowIndex = 0; rowIndex < firstRanks.length; rowIndex += 1) {
    const [x, y] = [
      (firstRanks[rowIndex] as number) - firstMean,
      (secondRanks[rowIndex] as number) - secondMean,
    ];
    crossSum += x * y;
    firstSquares += x * x;
    secondSquares += y * y;
  }
  return crossSum / Math.sqrt(firstSquares * secondSquares);
}
