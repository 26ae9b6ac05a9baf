import { HALF_A_PRINTED_UNIT } from "../scores/probability-scores.ts";
import { monotoneMeans, type Pool, poolRows } from "../math/pool.ts";
import type { Recalibrator } from "./temperature.ts";

/** A line on log odds: the new log odds are intercept + slope × the old ones. */
interface LogisticFit {
  intercept: number;
  slope: number;
}

// If the truths separate cleanly, the best slope is infinite; this one is as good.
const STEEPEST = 100;

/** The logistic regression of truth on the log odds of p (clipped at half a printed unit). */
export const logistic: Recalibrator<LogisticFit> = {
  fit: ({ table, truth, weights }) => fitPool(poolRows(table.values, truth, weights)),
  shareAt: ({ values }, at, { intercept, slope }) =>
    1 / (1 + Math.exp(-intercept - slope * logOdds(values[at] as number))),
};

/** A curve that never descends, through (x, y); straight between its points and flat outside. */
interface IsotonicFit {
  x: number[];
  y: number[];
}

/** The isotonic regression of truth on p. */
export const isotonic: Recalibrator<IsotonicFit> = {
  fit({ table, truth, weights }) {
    const pool = poolRows(table.values, truth, weights);
    const fitted = monotoneMeans(pool.positives, pool.weights);
    // Inside a flat stretch no point is needed.
    const isEdge = (_: number, i: number) =>
      fitted[i] !== fitted[i - 1] || fitted[i] !== fitted[i + 1];
    return { x: Array.from(pool.values.filter(isEdge)), y: Array.from(fitted.filter(isEdge)) };
  },
  shareAt({ values }, at, { x, y }) {
    const p = values[at] as number;
    const above = x.findIndex((value) => value >= p);
    if (above === -1) return y.at(-1) ?? Number.NaN;
    const [right, high] = [x[above] as number, y[above] as number];
    if (above === 0 || right === p) return high;
    const [left, low] = [x[above - 1] as number, y[above - 1] as number];
    return low + ((high - low) * (p - left)) / (right - left);
  },
};

/** Returns the log odds of a probability, clipped at half a printed unit. */
function logOdds(p: number): number {
  const clipped = Math.min(Math.max(p, HALF_A_PRINTED_UNIT), 1 - HALF_A_PRINTED_UNIT);
  return Math.log(clipped / (1 - clipped));
}

/** Newton's method, with shorter steps if a whole one makes it worse. */
function fitPool(pool: Pool): LogisticFit {
  const odds = pool.values.map(logOdds);
  // One value does not determine a slope.
  let fit: LogisticFit = { intercept: 0, slope: odds.some((x) => x !== odds[0]) ? 1 : 0 };
  let loss = lossOf(fit, pool, odds);
  for (let round = 0; round < 200; round += 1) {
    const step = newtonStep(fit, pool, odds);
    let share = 1;
    let next = fit;
    let nextLoss = Infinity;
    for (; share > 1e-10; share /= 2) {
      next = {
        intercept: fit.intercept + share * step.intercept,
        slope: fit.slope + share * step.slope,
      };
      nextLoss = lossOf(next, pool, odds);
      if (nextLoss <= loss) break;
    }
    const moved = Math.abs(next.intercept - fit.intercept) + Math.abs(next.slope - fit.slope);
    if (!(nextLoss <= loss)) break;
    [fit, loss] = [next, nextLoss];
    if (moved < 1e-14 * (1 + Math.abs(fit.slope)) || Math.abs(fit.slope) > STEEPEST) break;
  }
  return fit;
}

function lossOf({ intercept, slope }: LogisticFit, pool: Pool, odds: Float64Array): number {
  let loss = 0;
  for (let i = 0; i < odds.length; i += 1) {
    const x = intercept + slope * (odds[i] as number);
    const softplus = Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
    loss += (pool.weights[i] as number) * softplus - (pool.positives[i] as number) * x;
  }
  return loss;
}

function newtonStep(fit: LogisticFit, pool: Pool, odds: Float64Array): LogisticFit {
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
