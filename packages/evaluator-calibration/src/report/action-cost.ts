import { hashToShare } from "../math/random.ts";
import { type Numbers, type Weighted, effectiveRows, weightedMean } from "../math/rows.ts";
import { applyRecalibration, toFit } from "../recalibration.ts";
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
type Rule = (rows: ActionRows, costs: Costs) => number | null;

const PARTS = 5;
/** Fewer rows of the rarer outcome are not recalibrated. */
const LEAST_OF_RARER = 10;

const rules = {
  /** The best threshold if the probabilities are true, after recalibration. */
  theory: (rows, { falseAct, missedAct }) =>
    theoryThreshold(rows, falseAct / (falseAct + missedAct)),
  /** The threshold that costs least on the rows. */
  cheapest: (rows, costs) =>
    costThreshold(rows.sureness, rows.wrong, { ...rows, ...costs }).threshold,
} satisfies Record<string, Rule>;

/** The lower of two noisy costs is below the truth, so a difference of less standard errors does not count (one-sided 5 %). */
const LEAST_ERRORS = 1.645;

/**
 * Returns a threshold with a low cost (null: never to act), and its mean cost of a row. Both rules are tried on rows that
 * they had not seen: each of five parts is costed at the threshold that the other four give. Taken is the theoretical
 * threshold of recalibrated probabilities, unless it is beaten there.
 */
export function crossFittedCost(rows: ActionRows, costs: Costs) {
  const folds = rows.ids.map((id) => Math.floor(PARTS * hashToShare(id)));
  const others = Array.from({ length: PARTS }, (_, part) =>
    takeRows(rows, (row) => folds[row] !== part),
  );
  const listCosts = (rule: Rule) => {
    const foundNumbers = others.map((other) => rule(other, costs));
    return Float64Array.from(folds, (fold, row) =>
      computeCost(rows, row, { ...costs, threshold: foundNumbers[fold] ?? null }),
    );
  };
  const computeMean = (values: Numbers) =>
    weightedMean(folds.length, rows.weights, (row) => values[row] as number);
  const [theory, cheapest] = [listCosts(rules.theory), listCosts(rules.cheapest)];
  const gains = cheapest.map((cost, row) => (theory[row] as number) - cost);
  const error = computeError(gains, { mean: computeMean(gains), weights: rows.weights });
  const isBeaten = computeMean(gains) > LEAST_ERRORS * error;
  const rule = isBeaten ? rules.cheapest : rules.theory;
  return { threshold: rule(rows, costs), cost: computeMean(isBeaten ? cheapest : theory) };
}

/** Returns the standard error of a mean. */
function computeError(
  values: Numbers,
  { mean, weights }: Weighted & { readonly mean: number },
): number {
  const n = values.length;
  const variance = weightedMean(n, weights, (row) => ((values[row] as number) - mean) ** 2);
  return Math.sqrt(variance / effectiveRows(n, weights));
}

function takeRows(
  { ids, sureness, wrong, weights, lowest }: ActionRows,
  isTaken: (row: number) => boolean,
) {
  const takenRows = ids.map((_, row) => row).filter(isTaken);
  const take = (numbers: Numbers) => Float64Array.from(takenRows, (row) => numbers[row] as number);
  return {
    ids: takenRows.map((row) => ids[row] as string),
    sureness: take(sureness),
    wrong: take(wrong),
    weights: weights && take(weights),
    lowest,
  };
}

function computeCost(
  { sureness, wrong }: ActionRows,
  row: number,
  { falseAct, missedAct, threshold }: Costs & { readonly threshold: number | null },
): number {
  const at = toHundredths(sureness[row] as number);
  const isActedOn = threshold !== null && at >= toHundredths(threshold);
  if (isActedOn) return wrong[row] === 1 ? falseAct : 0;
  return wrong[row] === 1 ? 0 : missedAct;
}

/** Returns the lowest printed value from which on every recalibrated one is at least a share; null for none. */
function theoryThreshold({ sureness, wrong, weights, lowest }: ActionRows, share: number) {
  const right = Float64Array.from(wrong, (one) => 1 - one);
  const yes = right.reduce((sum, one) => sum + one, 0);
  const isFitted = Math.min(yes, right.length - yes) >= LEAST_OF_RARER;
  const table = { width: 1, values: sureness };
  const fit = isFitted ? toFit("logistic", { table, truth: right, weights }) : null;
  const countTrue = (at: number) =>
    fit === null ? at / 100 : (applyRecalibration([at / 100], fit)[0] as number);
  const printedValues = [...new Set(Array.from(sureness, toHundredths))]
    .filter((at) => at >= toHundredths(lowest))
    .toSorted((one, other) => other - one);
  const refusedCount = printedValues.findIndex((at) => countTrue(at) < share - 1e-12);
  const last = printedValues[(refusedCount === -1 ? printedValues.length : refusedCount) - 1];
  return last === undefined ? null : last / 100;
}
