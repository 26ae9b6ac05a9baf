import { hashToShare } from "../math/random.ts";
import { type Numbers, type Weighted, effectiveRows, weightedMean } from "../math/rows.ts";
import { applyRecalibration } from "../recalibration.ts";
import { toFit } from "./recalibration-fits.ts";
import { type Costs, costThreshold, toHundredths } from "../thresholds/risk-coverage.ts";

/** Rows of an action: how sure each answer is of it, and whether acting would be wrong. */
interface ActionRows extends Weighted {
  readonly ids: readonly string[];
  readonly sureness: Numbers;
  readonly wrong: Numbers;
  /** No lower threshold is taken. */
  readonly lowest: number;
}

/** How a threshold is found on some rows; null is never to act. */
type Rule = (actionRows: ActionRows, errorCosts: Costs) => number | null;

const FOLD_COUNT = 5;
/** Fewer rows of the rarer outcome are not recalibrated. */
const LEAST_OF_RARER = 10;

const thresholdRules = {
  /** The best threshold if the probabilities are true, after recalibration. */
  theory: (actionRows, { falseAct, missedAct }) =>
    theoryThreshold(actionRows, falseAct / (falseAct + missedAct)),
  /** The threshold that costs least on the rows. */
  cheapest: (actionRows, errorCosts) =>
    costThreshold(actionRows.sureness, actionRows.wrong, { ...actionRows, ...errorCosts })
      .threshold,
} satisfies Record<string, Rule>;

/** The lower of two noisy costs is below the truth, so a difference of less standard errors does not count (one-sided 5 %). */
const LEAST_ERRORS = 1.645;

/**
 * Returns a threshold with a low cost (null: never to act), and its mean cost of a row. Both rules are tried on rows that
 * they had not seen: each of five parts is costed at the threshold that the other four give. Taken is the theoretical
 * threshold of recalibrated probabilities, unless it is beaten there.
 */
export function crossFittedCost(actionRows: ActionRows, errorCosts: Costs) {
  const rowFolds = actionRows.ids.map((recordId) => Math.floor(FOLD_COUNT * hashToShare(recordId)));
  const otherParts = Array.from({ length: FOLD_COUNT }, (_, foldIndex) =>
    takeRows(actionRows, (rowIndex) => rowFolds[rowIndex] !== foldIndex),
  );
  const listCosts = (thresholdRule: Rule) => {
    const foundNumbers = otherParts.map((otherRows) => thresholdRule(otherRows, errorCosts));
    return Float64Array.from(rowFolds, (foldIndex, rowIndex) =>
      computeCost(actionRows, rowIndex, {
        ...errorCosts,
        threshold: foundNumbers[foldIndex] ?? null,
      }),
    );
  };
  const computeMean = (rowValues: Numbers) =>
    weightedMean(rowFolds.length, actionRows.weights, (rowIndex) => rowValues[rowIndex] as number);
  const [theoryCosts, cheapestCosts] = [
    listCosts(thresholdRules.theory),
    listCosts(thresholdRules.cheapest),
  ];
  const costGains = cheapestCosts.map(
    (cheapestCost, rowIndex) => (theoryCosts[rowIndex] as number) - cheapestCost,
  );
  const standardError = computeError(costGains, {
    meanValue: computeMean(costGains),
    weights: actionRows.weights,
  });
  const isBeaten = computeMean(costGains) > LEAST_ERRORS * standardError;
  const betterRule = isBeaten ? thresholdRules.cheapest : thresholdRules.theory;
  return {
    threshold: betterRule(actionRows, errorCosts),
    cost: computeMean(isBeaten ? cheapestCosts : theoryCosts),
  };
}

/** Returns the standard error of a mean. */
function computeError(
  rowValues: Numbers,
  { meanValue, weights }: Weighted & { readonly meanValue: number },
): number {
  const rowCount = rowValues.length;
  const variance = weightedMean(
    rowCount,
    weights,
    (rowIndex) => ((rowValues[rowIndex] as number) - meanValue) ** 2,
  );
  return Math.sqrt(variance / effectiveRows(rowCount, weights));
}

function takeRows(
  { ids, sureness, wrong, weights, lowest }: ActionRows,
  isTaken: (rowIndex: number) => boolean,
) {
  const takenRows = ids.map((_, rowIndex) => rowIndex).filter(isTaken);
  const takeNumbers = (numbers: Numbers) =>
    Float64Array.from(takenRows, (rowIndex) => numbers[rowIndex] as number);
  return {
    ids: takenRows.map((rowIndex) => ids[rowIndex] as string),
    sureness: takeNumbers(sureness),
    wrong: takeNumbers(wrong),
    weights: weights && takeNumbers(weights),
    lowest,
  };
}

function computeCost(
  { sureness, wrong }: ActionRows,
  rowIndex: number,
  { falseAct, missedAct, threshold }: Costs & { readonly threshold: number | null },
): number {
  const hundredths = toHundredths(sureness[rowIndex] as number);
  const isActedOn = threshold !== null && hundredths >= toHundredths(threshold);
  if (isActedOn) return wrong[rowIndex] === 1 ? falseAct : 0;
  return wrong[rowIndex] === 1 ? 0 : missedAct;
}

/** Returns the lowest printed value from which on every recalibrated one is at least a share; null for none. */
function theoryThreshold({ sureness, wrong, weights, lowest }: ActionRows, wantedShare: number) {
  const rightRows = Float64Array.from(wrong, (wrongValue) => 1 - wrongValue);
  const rightCount = rightRows.reduce((runningCount, rightValue) => runningCount + rightValue, 0);
  const isFitted = Math.min(rightCount, rightRows.length - rightCount) >= LEAST_OF_RARER;
  const valueTable = { width: 1, values: sureness };
  const logisticFit = isFitted
    ? toFit("logistic", { table: valueTable, truth: rightRows, weights })
    : null;
  const countTrue = (hundredths: number) =>
    logisticFit === null
      ? hundredths / 100
      : (applyRecalibration([hundredths / 100], logisticFit)[0] as number);
  const printedValues = [...new Set(Array.from(sureness, toHundredths))]
    .filter((hundredths) => hundredths >= toHundredths(lowest))
    .toSorted((firstValue, secondValue) => secondValue - firstValue);
  const refusedCount = printedValues.findIndex(
    (hundredths) => countTrue(hundredths) < wantedShare - 1e-12,
  );
  const lastValue = printedValues[(refusedCount === -1 ? printedValues.length : refusedCount) - 1];
  return lastValue === undefined ? null : lastValue / 100;
}
