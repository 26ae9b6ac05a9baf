import {
  checkIndexes,
  checkLengths,
  checkProbabilities,
  checkWeights,
  type Numbers,
  type Weighted,
  weightedMean,
} from "../check-rows.ts";
import { clippedLogLoss, type LogLoss, type LogLossOptions } from "./boolean-scores.ts";

/** Rows of one probability for each option or level, one after the other in one list. */
export interface ProbabilityTable {
  /** How many options or levels a row has. */
  readonly width: number;
  /** Row by row. */
  readonly values: Numbers;
}

/** One list of probabilities a row, or all of them in one table. */
export type ProbabilityRows = readonly Numbers[] | ProbabilityTable;

/** Returns the mean over rows of the squared distances summed over options: 0 to 2. */
export function brierScoreOfChoice(
  P: ProbabilityRows,
  truth: Numbers,
  { weights }: Weighted = {},
): number {
  const { width, values } = checkTable(P, truth, { weights });
  return weightedMean(truth.length, weights, (row) => {
    let sum = 0;
    for (let option = 0; option < width; option += 1) {
      const isTrue = option === truth[row] ? 1 : 0;
      sum += ((values[row * width + option] as number) - isTrue) ** 2;
    }
    return sum;
  });
}

/** Returns the mean of −ln of the true option's probability, clipped, and not renormalized. */
export function logLossOfChoice(
  P: ProbabilityRows,
  truth: Numbers,
  options: LogLossOptions = {},
): LogLoss {
  const { width, values } = checkTable(P, truth, options);
  const ofTruth = (row: number) => values[row * width + (truth[row] as number)] as number;
  return clippedLogLoss(truth.length, ofTruth, options);
}

/** A ranked probability score. */
export interface RankedProbabilityScore {
  /** The squared distances of the cumulated probabilities, summed over the inner boundaries. */
  readonly value: number;
  /** The same divided by the number of boundaries: 0 to 1. */
  readonly normalized: number;
}

/** Returns the mean ranked probability score of levels: farther levels count more. */
export function rankedProbabilityScores(
  P: ProbabilityRows,
  truth: Numbers,
  { weights }: Weighted = {},
): RankedProbabilityScore {
  const { width, values } = checkTable(P, truth, { weights });
  const value = weightedMean(truth.length, weights, (row) => {
    let [sum, below] = [0, 0];
    for (let level = 0; level < width - 1; level += 1) {
      below += values[row * width + level] as number;
      sum += (below - ((truth[row] as number) <= level ? 1 : 0)) ** 2;
    }
    return sum;
  });
  return { value, normalized: width < 2 ? 0 : value / (width - 1) };
}

/** Returns the mean ranked probability score, summed over the inner boundaries. */
export function rankedProbabilityScore(
  P: ProbabilityRows,
  truth: Numbers,
  options: Weighted = {},
): number {
  return rankedProbabilityScores(P, truth, options).value;
}

/** Returns the rows as one table; throws a RangeError that names row and column of what is unsound. */
export function checkTable(
  P: ProbabilityRows,
  truth: Numbers,
  { weights }: Weighted = {},
): ProbabilityTable {
  const table = "width" in P ? P : flatten(P);
  const { width, values } = table;
  checkLengths(["P", { length: width === 0 ? 0 : values.length / width }], ["truth", truth]);
  if ("width" in P) checkProbabilities(values, "P.values");
  checkIndexes(truth, width);
  if (weights !== undefined) checkWeights(weights, truth);
  return table;
}

function flatten(rows: readonly Numbers[]): ProbabilityTable {
  const width = rows[0]?.length ?? 0;
  const values = new Float64Array(rows.length * width);
  for (const [index, row] of rows.entries()) {
    if (row.length !== width) {
      throw new RangeError(`P[${index}] has ${row.length} probabilities, and P[0] ${width}.`);
    }
    checkProbabilities(row, `P[${index}]`);
    values.set(row, index * width);
  }
  return { width, values };
}

/** Returns the index of each row's most probable option (the first of equals), and its probability. */
export function topOptions({ width, values }: ProbabilityTable): {
  option: Uint32Array;
  probability: Float64Array;
} {
  const rows = width === 0 ? 0 : values.length / width;
  const option = new Uint32Array(rows);
  const probability = new Float64Array(rows);
  for (let row = 0; row < rows; row += 1) {
    let best = 0;
    for (let other = 1; other < width; other += 1) {
      if ((values[row * width + other] as number) > (values[row * width + best] as number)) {
        best = other;
      }
    }
    option[row] = best;
    probability[row] = values[row * width + best] as number;
  }
  return { option, probability };
}
