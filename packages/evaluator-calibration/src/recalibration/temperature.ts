import type { Numbers, Weighted } from "../check-rows.ts";
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
  return fitTemperatureToRows(checkTable(P, truth, { weights }), truth, { weights });
}

/** Which rows of a table a fit takes. */
export interface RowChoice extends Weighted {
  readonly isTaken?: (row: number) => boolean;
}

/** Returns the temperature of some rows of a table. */
export function fitTemperatureToRows(
  table: ProbabilityTable,
  truth: Numbers,
  choice: RowChoice,
): TemperatureFit {
  const sums = new TemperatureSums(table, truth, choice);
  const [coldest, hottest] = TEMPERATURE_LIMITS;
  let [low, high] = [1 / hottest, 1 / coldest];
  // The loss is convex in 1 / temperature: Newton's steps, kept within what is known.
  let beta = 1;
  for (let round = 0; round < 100; round += 1) {
    const { slope, curve } = sums.at(beta);
    if (slope > 0) high = beta;
    else low = beta;
    const newton = beta - slope / curve;
    const next = newton > low && newton < high ? newton : edgeOrMiddle(newton, low, high);
    const moved = Math.abs(next - beta);
    beta = next;
    if (moved < 1e-15 * beta) break;
  }
  return { temperature: 1 / beta, logLoss: sums.at(beta).loss };
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

/** Loss and its slopes over 1 / temperature; a printed value's power is computed once for all rows. */
class TemperatureSums {
  readonly #width: number;
  readonly #places: Uint32Array;
  readonly #logs: Float64Array;
  readonly #truth: Numbers;
  readonly #choice: RowChoice;

  constructor({ width, values }: ProbabilityTable, truth: Numbers, choice: RowChoice) {
    const placeOf = new Map<number, number>();
    this.#places = new Uint32Array(values.length);
    for (let i = 0; i < values.length; i += 1) {
      const value = values[i] as number;
      let place = placeOf.get(value);
      if (place === undefined) placeOf.set(value, (place = placeOf.size));
      this.#places[i] = place;
    }
    this.#logs = Float64Array.from(placeOf.keys(), (p) =>
      Math.log(Math.max(p, HALF_A_PRINTED_UNIT)),
    );
    this.#width = width;
    this.#truth = truth;
    this.#choice = choice;
  }

  at(beta: number): { loss: number; slope: number; curve: number } {
    const { weights, isTaken } = this.#choice;
    const powers = this.#logs.map((log) => Math.exp(beta * log));
    let [loss, slope, curve, total] = [0, 0, 0, 0];
    for (let row = 0; row < this.#truth.length; row += 1) {
      if (isTaken !== undefined && !isTaken(row)) continue;
      const weight = weights === undefined ? 1 : (weights[row] as number);
      let [sum, mean, square] = [0, 0, 0];
      for (let i = row * this.#width; i < (row + 1) * this.#width; i += 1) {
        const place = this.#places[i] as number;
        const [power, log] = [powers[place] as number, this.#logs[place] as number];
        sum += power;
        mean += power * log;
        square += power * log * log;
      }
      const truePlace = this.#places[row * this.#width + (this.#truth[row] as number)] as number;
      const trueLog = this.#logs[truePlace] as number;
      mean /= sum;
      loss += weight * (Math.log(sum) - beta * trueLog);
      slope += weight * (mean - trueLog);
      curve += weight * (square / sum - mean * mean);
      total += weight;
    }
    return { loss: loss / total, slope: slope / total, curve: curve / total };
  }
}
