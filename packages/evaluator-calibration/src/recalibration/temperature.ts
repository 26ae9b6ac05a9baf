import { type Numbers, type Weighted, weightedMean } from "../check-rows.ts";
import { HALF_A_PRINTED_UNIT } from "../scores/boolean-scores.ts";
import {
  checkTable,
  type ProbabilityRows,
  type ProbabilityTable,
} from "../scores/choice-scores.ts";

/** A temperature for choices and scores, and the log loss it comes to on the rows of the fit. */
export interface TemperatureFit {
  /** Above 1 the answers were too sure, below 1 not sure enough. */
  readonly temperature: number;
  /** In nats a row, on the rows of the fit. */
  readonly logLoss: number;
}

/** A temperature at one of these says that the fit ended there, not that it is best. */
export const TEMPERATURE_LIMITS = [0.25, 10] as const;

/** Returns the temperature that makes the log loss least, between 0.25 and 10. */
export function fitTemperature(
  P: ProbabilityRows,
  truth: Numbers,
  { weights }: Weighted = {},
): TemperatureFit {
  const table = checkTable(P, truth, { weights });
  const temperature = temperatureOf(new TemperatureSums(new PrintedTable(table), truth, weights));
  const lossOf = (row: number) =>
    -Math.log(shareAtTemperature(table, row * table.width + (truth[row] as number), temperature));
  return { temperature, logLoss: weightedMean(truth.length, weights, lossOf) };
}

function temperatureOf(sums: TemperatureSums): number {
  const [coldest, hottest] = TEMPERATURE_LIMITS;
  let [low, high] = [1 / hottest, 1 / coldest];
  // The loss is convex in 1 / temperature: Newton's steps, kept within what is known.
  let beta = 1;
  for (let round = 0; round < 100; round += 1) {
    const { slope, curve } = sums.slopesAt(beta);
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
  const [coldest, hottest] = TEMPERATURE_LIMITS;
  if (newton >= high && high === 1 / coldest) return high;
  if (newton <= low && low === 1 / hottest) return low;
  return (low + high) / 2;
}

/** Returns a row of probabilities at a temperature, by softmax of ln max(p, 0.005) / temperature. */
export function applyTemperature(row: Numbers, temperature: number): number[] {
  const powers = Array.from(row, (p) => Math.max(p, HALF_A_PRINTED_UNIT) ** (1 / temperature));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** Returns the probability of one value of a table, by its index, at a temperature. */
export function shareAtTemperature(
  { width, values }: ProbabilityTable,
  at: number,
  temperature: number,
): number {
  const powerOf = (i: number) =>
    Math.max(values[i] as number, HALF_A_PRINTED_UNIT) ** (1 / temperature);
  let sum = 0;
  const from = at - (at % width);
  for (let i = from; i < from + width; i += 1) sum += powerOf(i);
  return powerOf(at) / sum;
}

/** Printed rows by the index of each value among the distinct ones: a power is computed once a value. */
class PrintedTable {
  readonly width: number;
  readonly indices: Uint32Array;
  readonly logs: Float64Array;

  constructor({ width, values }: ProbabilityTable) {
    this.width = width;
    this.indices = new Uint32Array(values.length);
    const printed = indexHundredths(values, this.indices) ?? indexDistinct(values, this.indices);
    this.logs = Float64Array.from(printed, (p) => Math.log(Math.max(p, HALF_A_PRINTED_UNIT)));
  }
}

/** Fills in the indices of values that are printed with two decimals, without looking any up; null where one is not. */
function indexHundredths(values: Numbers, indices: Uint32Array): Float64Array | null {
  for (let i = 0; i < values.length; i += 1) {
    const hundredth = Math.round(100 * (values[i] as number));
    if (hundredth / 100 !== values[i]) return null;
    indices[i] = hundredth;
  }
  return new Float64Array(101).map((_, hundredth) => hundredth / 100);
}

function indexDistinct(values: Numbers, indices: Uint32Array): number[] {
  const indexOf = new Map<number, number>();
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as number;
    let index = indexOf.get(value);
    if (index === undefined) indexOf.set(value, (index = indexOf.size));
    indices[i] = index;
  }
  return [...indexOf.keys()];
}

/** The slopes of the loss over 1 / temperature. */
class TemperatureSums {
  readonly #table: PrintedTable;
  readonly #weights: Numbers | undefined;
  readonly #count: number;
  /** The weight of all rows, and the mean log of what is true. */
  #total = 0;
  #trueLog = 0;

  constructor(table: PrintedTable, truth: Numbers, weights: Numbers | undefined) {
    this.#table = table;
    this.#weights = weights;
    this.#count = truth.length;
    const { width, indices, logs } = table;
    for (let row = 0; row < truth.length; row += 1) {
      const weight = weights === undefined ? 1 : (weights[row] as number);
      const index = indices[row * width + (truth[row] as number)] as number;
      this.#total += weight;
      this.#trueLog += weight * (logs[index] as number);
    }
    this.#trueLog /= this.#total;
  }

  slopesAt(beta: number): { slope: number; curve: number } {
    const weights = this.#weights;
    const { width, indices, logs } = this.#table;
    const powers = logs.map((log) => Math.exp(beta * log));
    const firsts = powers.map((power, index) => power * (logs[index] as number));
    const seconds = firsts.map((first, index) => first * (logs[index] as number));
    let [slope, curve] = [0, 0];
    for (let row = 0; row < this.#count; row += 1) {
      const weight = weights === undefined ? 1 : (weights[row] as number);
      let sum = 0;
      let mean = 0;
      let square = 0;
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
    return { slope: slope / this.#total - this.#trueLog, curve: curve / this.#total };
  }
}
