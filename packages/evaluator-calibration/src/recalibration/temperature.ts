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
  const table = new PrintedTable(checkTable(P, truth, { weights }));
  const temperature = temperatureOfRows(table, truth, { weights });
  const shareOf = table.sharesAt(temperature);
  const lossOf = (row: number) => -Math.log(shareOf(row, truth[row] as number));
  return { temperature, logLoss: weightedMean(truth.length, weights, lossOf) };
}

/** Which rows of a table a fit takes. */
export interface RowChoice extends Weighted {
  /** @default all */
  readonly rows?: Uint32Array | undefined;
}

/** Returns the temperature of some rows of a table. */
export function temperatureOfRows(table: PrintedTable, truth: Numbers, choice: RowChoice): number {
  const sums = new TemperatureSums(table, truth, choice);
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

/** Printed rows by the index of each value among the distinct ones: a power is computed once a value. */
export class PrintedTable {
  readonly width: number;
  readonly indices: Uint32Array;
  readonly logs: Float64Array;

  constructor({ width, values }: ProbabilityTable) {
    this.width = width;
    this.indices = new Uint32Array(values.length);
    const printed = indexHundredths(values, this.indices) ?? indexDistinct(values, this.indices);
    this.logs = Float64Array.from(printed, (p) => Math.log(Math.max(p, HALF_A_PRINTED_UNIT)));
  }

  /** Returns a function that computes the probability of one option of a row at a temperature. */
  sharesAt(temperature: number): (row: number, option: number) => number {
    const powers = this.logs.map((log) => Math.exp(log / temperature));
    const { width, indices } = this;
    return (row, option) => {
      let sum = 0;
      for (let i = row * width; i < (row + 1) * width; i += 1) {
        sum += powers[indices[i] as number] as number;
      }
      return (powers[indices[row * width + option] as number] as number) / sum;
    };
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

/** The slopes of the loss over 1 / temperature, of some rows. */
class TemperatureSums {
  readonly #table: PrintedTable;
  readonly #choice: RowChoice;
  readonly #count: number;
  /** The weight of all rows, and the mean log of what is true. */
  #total = 0;
  #trueLog = 0;

  constructor(table: PrintedTable, truth: Numbers, choice: RowChoice) {
    this.#table = table;
    this.#choice = choice;
    this.#count = choice.rows?.length ?? truth.length;
    const { width, indices, logs } = table;
    for (let at = 0; at < this.#count; at += 1) {
      const row = choice.rows === undefined ? at : (choice.rows[at] as number);
      const weight = choice.weights === undefined ? 1 : (choice.weights[row] as number);
      const index = indices[row * width + (truth[row] as number)] as number;
      this.#total += weight;
      this.#trueLog += weight * (logs[index] as number);
    }
    this.#trueLog /= this.#total;
  }

  slopesAt(beta: number): { slope: number; curve: number } {
    const { rows, weights } = this.#choice;
    const { width, indices, logs } = this.#table;
    const powers = logs.map((log) => Math.exp(beta * log));
    const firsts = powers.map((power, index) => power * (logs[index] as number));
    const seconds = firsts.map((first, index) => first * (logs[index] as number));
    let [slope, curve] = [0, 0];
    for (let at = 0; at < this.#count; at += 1) {
      const row = rows === undefined ? at : (rows[at] as number);
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
