import type { Numbers, Weighted } from "../math/rows.ts";
import { HALF_A_PRINTED_UNIT } from "../scores/probability-scores.ts";

/** Rows of one probability for each option or level, one after the other; or of the probability of yes. */
export interface ProbabilityTable {
  /** How many probabilities a row has. */
  readonly width: number;
  readonly values: Numbers;
}

/** A kind of recalibration. */
export interface Recalibrator<TParameters> {
  /** Returns the parameters that fit best; truth has the index of each row's option, or 0 and 1. */
  readonly fit: (
    rows: Weighted & { readonly table: ProbabilityTable; readonly truth: Numbers },
  ) => TParameters;
  /** Returns one probability of a table, recalibrated. */
  readonly shareAt: (table: ProbabilityTable, at: number, parameters: TParameters) => number;
}

/** The lowest and the highest temperature; a fit that ends at one of them is not the best. */
export const TEMPERATURE_LIMITS = [0.25, 10] as const;
const [coldest, hottest] = TEMPERATURE_LIMITS;

/** The softmax of ln max(p, 0.005) / temperature, at the temperature with the lowest log loss. */
export const temperature: Recalibrator<{ temperature: number }> = {
  fit: ({ table, truth, weights }) => {
    return { temperature: fitTemperature(lossSlopes(table, truth, weights)) };
  },
  shareAt({ width, values }, at, parameters) {
    const powerOf = (i: number) =>
      Math.max(values[i] as number, HALF_A_PRINTED_UNIT) ** (1 / parameters.temperature);
    let sum = 0;
    const from = at - (at % width);
    for (let i = from; i < from + width; i += 1) sum += powerOf(i);
    return powerOf(at) / sum;
  },
};

function fitTemperature(slopesAt: ReturnType<typeof lossSlopes>): number {
  let [low, high] = [1 / hottest, 1 / coldest];
  // The loss is convex in 1 / temperature: Newton's steps, kept inside the known bounds.
  let beta = 1;
  for (let round = 0; round < 100; round += 1) {
    const { slope, curve } = slopesAt(beta);
    if (slope > 0) high = beta;
    else low = beta;
    const newton = beta - slope / curve;
    const next = newton > low && newton < high ? newton : edgeOrMiddle(newton, low, high);
    const moved = Math.abs(next - beta);
    beta = next;
    // A step of Newton's doubles the digits that are right: the next would move the last one.
    if (moved < 1e-10 * beta) break;
  }
  return 1 / beta;
}

function edgeOrMiddle(newton: number, low: number, high: number): number {
  if (newton >= high && high === 1 / coldest) return high;
  if (newton <= low && low === 1 / hottest) return low;
  return (low + high) / 2;
}

/** Returns the distinct values, and the index of each value among them: a power is computed once a value. */
function indexValues(values: Numbers): { distinct: number[]; indices: Uint32Array } {
  const indices = new Uint32Array(values.length);
  const indexOf = new Map<number, number>();
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as number;
    let index = indexOf.get(value);
    if (index === undefined) indexOf.set(value, (index = indexOf.size));
    indices[i] = index;
  }
  return { distinct: [...indexOf.keys()], indices };
}

/** Returns a function that computes the slope and the curvature of the loss over 1 / temperature. */
function lossSlopes({ width, values }: ProbabilityTable, truth: Numbers, weights?: Numbers) {
  const { distinct, indices } = indexValues(values);
  const logs = Float64Array.from(distinct, (p) => Math.log(Math.max(p, HALF_A_PRINTED_UNIT)));
  let [total, trueLog] = [0, 0];
  for (let row = 0; row < truth.length; row += 1) {
    const weight = weights === undefined ? 1 : (weights[row] as number);
    const index = indices[row * width + (truth[row] as number)] as number;
    total += weight;
    trueLog += weight * (logs[index] as number);
  }
  trueLog /= total;
  return (beta: number): { slope: number; curve: number } => {
    const powers = logs.map((log) => Math.exp(beta * log));
    const firsts = powers.map((power, index) => power * (logs[index] as number));
    const seconds = firsts.map((first, index) => first * (logs[index] as number));
    let [slope, curve] = [0, 0];
    for (let row = 0; row < truth.length; row += 1) {
      const weight = weights === undefined ? 1 : (weights[row] as number);
      let [sum, mean, square] = [0, 0, 0];
      for (let i = row * width; i < (row + 1) * width; i += 1) {
        const index = indices[i] as number;
        sum += powers[index] as number;
        mean += firsts[index] as number;
        square += seconds[index] as number;
      }
      mean /= sum;
      slope += weight * mean;
      curve += weight * (square / sum - mean * mean);
    }
    return { slope: slope / total - trueLog, curve: curve / total };
  };
}
