import { type Recalibration, TEMPERATURE_LIMITS } from "./artifact.ts";
import type { Form } from "./kinds.ts";
import { monotoneMeans, type Pool, poolRows } from "./math/pool.ts";
import type { Numbers, Weighted } from "./math/rows.ts";
import { HALF_A_PRINTED_UNIT } from "./scores/probability-scores.ts";

type Kind = Recalibration["kind"];
type Fit<TKind extends Kind> = Extract<Recalibration, { kind: TKind }>;

/** Rows of one probability for each option or level, one after the other; or of the probability of yes. */
interface ProbabilityTable {
  /** How many probabilities a row has. */
  readonly width: number;
  readonly values: Numbers;
}

/** Truth has the index of each row's option, or 0 and 1. */
type FittedRows = Weighted & { readonly table: ProbabilityTable; readonly truth: Numbers };

/** How a kind of recalibration is fitted, and applied to the printed probabilities of one row. */
interface Recalibrator<TParameters> {
  readonly fit: (rows: FittedRows) => TParameters;
  readonly apply: (printedValues: readonly number[], parameters: TParameters) => number[];
}

const recalibrators: { [TKind in Kind]: Recalibrator<Fit<TKind>["parameters"]> } = {
  /** The logistic regression of truth on the log odds of p: a line. */
  logistic: {
    fit: ({ table, truth, weights }) => fitLine(poolRows(table.values, truth, weights)),
    apply: (printedValues, { intercept, slope }) =>
      printedValues.map((p) => 1 / (1 + Math.exp(-intercept - slope * logOdds(p)))),
  },
  /** The softmax of ln max(p, 0.005) / temperature, at the temperature with the lowest log loss. */
  temperature: {
    fit: (rows) => ({ temperature: fitTemperature(rows) }),
    apply(printedValues, { temperature }) {
      const powers = printedValues.map(
        (p) => Math.max(p, HALF_A_PRINTED_UNIT) ** (1 / temperature),
      );
      const sum = powers.reduce((total, power) => total + power, 0);
      return powers.map((power) => power / sum);
    },
  },
  /** The isotonic regression of truth on p: straight between its points (x, y), and flat outside. */
  isotonic: {
    fit({ table, truth, weights }) {
      const pool = poolRows(table.values, truth, weights);
      const fittedValues = monotoneMeans(pool.positives, pool.weights);
      // Inside a flat stretch no point is needed.
      const isEdge = (_: number, i: number) =>
        fittedValues[i] !== fittedValues[i - 1] || fittedValues[i] !== fittedValues[i + 1];
      return {
        x: Array.from(pool.values.filter(isEdge)),
        y: Array.from(fittedValues.filter(isEdge)),
      };
    },
    apply: (printedValues, { x, y }) =>
      printedValues.map((p) => {
        const above = x.findIndex((value) => value >= p);
        if (above === -1) return y.at(-1) ?? Number.NaN;
        const [right, high] = [x[above] as number, y[above] as number];
        if (above === 0 || right === p) return high;
        const [remainingCount, low] = [x[above - 1] as number, y[above - 1] as number];
        return low + ((high - low) * (p - remainingCount)) / (right - remainingCount);
      }),
  },
};

/** The recalibrations that fit a form, the simplest first. */
export const recalibrationsOf: Readonly<Record<Form, readonly Kind[]>> = {
  probability: ["logistic", "isotonic"],
  distribution: ["temperature"],
};

/** Returns the recalibration of a kind that fits labelled rows best. */
export function toFit<TKind extends Kind>(kind: TKind, rows: FittedRows): Fit<TKind> {
  const fit = { kind, parameters: recalibrators[kind].fit(rows) } as Recalibration;
  return fit as Fit<TKind>;
}

/** Returns recalibrated probabilities: one for each option or level, or those of yes in a list. */
export function applyRecalibration(
  printedValues: Numbers,
  { kind, parameters }: Recalibration,
): number[] {
  return (recalibrators[kind] as Recalibrator<unknown>).apply(
    Array.from(printedValues),
    parameters,
  );
}

/** Returns the log odds of a probability, clipped at half a printed unit. */
function logOdds(p: number): number {
  const clippedCount = Math.min(Math.max(p, HALF_A_PRINTED_UNIT), 1 - HALF_A_PRINTED_UNIT);
  return Math.log(clippedCount / (1 - clippedCount));
}

type Line = Fit<"logistic">["parameters"];

// If the truths separate cleanly, the best slope is infinite; this one is as good.
const STEEPEST = 100;

/** Newton's method, with shorter steps if a whole one makes it worse. */
function fitLine(pool: Pool): Line {
  const odds = pool.values.map(logOdds);
  // One value does not determine a slope.
  let fit: Line = { intercept: 0, slope: odds.some((x) => x !== odds[0]) ? 1 : 0 };
  let loss = computeLoss(fit, pool, odds);
  for (let round = 0; round < 200; round += 1) {
    const step = newtonStep(fit, pool, odds);
    let next = fit;
    let nextLoss = Infinity;
    for (let share = 1; share > 1e-10 && !(nextLoss <= loss); share /= 2) {
      next = {
        intercept: fit.intercept + share * step.intercept,
        slope: fit.slope + share * step.slope,
      };
      nextLoss = computeLoss(next, pool, odds);
    }
    if (!(nextLoss <= loss)) break;
    const movedCount = Math.abs(next.intercept - fit.intercept) + Math.abs(next.slope - fit.slope);
    [fit, loss] = [next, nextLoss];
    if (movedCount < 1e-14 * (1 + Math.abs(fit.slope)) || Math.abs(fit.slope) > STEEPEST) break;
  }
  return fit;
}

function computeLoss({ intercept, slope }: Line, pool: Pool, odds: Float64Array): number {
  let loss = 0;
  for (let i = 0; i < odds.length; i += 1) {
    const x = intercept + slope * (odds[i] as number);
    const softplus = Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
    loss += (pool.weights[i] as number) * softplus - (pool.positives[i] as number) * x;
  }
  return loss;
}

function newtonStep(fit: Line, pool: Pool, odds: Float64Array): Line {
  let [g0, g1, h00, h01, h11] = [0, 0, 0, 0, 0];
  for (let i = 0; i < odds.length; i += 1) {
    const x = odds[i] as number;
    const q = 1 / (1 + Math.exp(-fit.intercept - fit.slope * x));
    const rest = (pool.positives[i] as number) - (pool.weights[i] as number) * q;
    const curve = (pool.weights[i] as number) * q * (1 - q);
    g0 += rest;
    g1 += rest * x;
    h00 += curve;
    h01 += curve * x;
    h11 += curve * x * x;
  }
  const determinant = h00 * h11 - h01 * h01;
  if (determinant < 1e-12 * h00 * h11 || h00 === 0) {
    return { intercept: h00 > 1e-12 ? g0 / h00 : 0, slope: 0 };
  }
  return {
    intercept: (h11 * g0 - h01 * g1) / determinant,
    slope: (h00 * g1 - h01 * g0) / determinant,
  };
}

function fitTemperature(rows: FittedRows): number {
  const slopesAt = lossSlopes(rows);
  const [least, most] = [1 / TEMPERATURE_LIMITS[1], 1 / TEMPERATURE_LIMITS[0]];
  let [low, high] = [least, most];
  // The loss is convex in 1 / temperature: Newton's steps, kept inside the known bounds.
  let beta = 1;
  for (let round = 0; round < 100; round += 1) {
    const { slope, curve } = slopesAt(beta);
    if (slope > 0) high = beta;
    else low = beta;
    const newton = beta - slope / curve;
    let next = (low + high) / 2;
    if (newton > low && newton < high) next = newton;
    else if (newton >= high && high === most) next = high;
    else if (newton <= low && low === least) next = low;
    const movedCount = Math.abs(next - beta);
    beta = next;
    // A step of Newton's doubles the digits that are right: the next would move the last one.
    if (movedCount < 1e-10 * beta) break;
  }
  return 1 / beta;
}

/** Returns a function that computes the slope and the curvature of the loss over 1 / temperature. */
function lossSlopes({ table: { width, values }, truth, weights }: FittedRows) {
  // A power is computed once for each distinct value.
  const distinct = [...new Set(Array.from(values))];
  const indexOf = new Map(distinct.map((value, index) => [value, index]));
  const indices = Uint32Array.from(values, (value) => indexOf.get(value) as number);
  const logs = Float64Array.from(distinct, (p) => Math.log(Math.max(p, HALF_A_PRINTED_UNIT)));
  const toWeight = (row: number) => (weights === undefined ? 1 : (weights[row] as number));
  let [total, trueLog] = [0, 0];
  for (let row = 0; row < truth.length; row += 1) {
    const index = indices[row * width + (truth[row] as number)] as number;
    total += toWeight(row);
    trueLog += toWeight(row) * (logs[index] as number);
  }
  trueLog /= total;
  return (beta: number): { slope: number; curve: number } => {
    const powers = logs.map((log) => Math.exp(beta * log));
    const firsts = powers.map((power, index) => power * (logs[index] as number));
    const seconds = firsts.map((first, index) => first * (logs[index] as number));
    let [slope, curve] = [0, 0];
    for (let row = 0; row < truth.length; row += 1) {
      let [sum, mean, square] = [0, 0, 0];
      for (let i = row * width; i < (row + 1) * width; i += 1) {
        const index = indices[i] as number;
        sum += powers[index] as number;
        mean += firsts[index] as number;
        square += seconds[index] as number;
      }
      mean /= sum;
      slope += toWeight(row) * mean;
      curve += toWeight(row) * (square / sum - mean * mean);
    }
    return { slope: slope / total - trueLog, curve: curve / total };
  };
}
