import { checkRows, type Numbers, type Weighted } from "../check-rows.ts";
import { monotoneMeans, poolRows } from "../scores/pool.ts";

/** A curve that never descends, through (x, y); straight between its points and flat outside. */
export interface IsotonicFit {
  readonly x: readonly number[];
  readonly y: readonly number[];
}

/** Returns the isotonic regression of truth on p. */
export function fitIsotonic(p: Numbers, truth: Numbers, { weights }: Weighted = {}): IsotonicFit {
  checkRows(p, truth, { weights });
  const pool = poolRows(p, truth, weights);
  const fitted = monotoneMeans(pool.positives, pool.weights);
  // Inside a flat stretch no point is needed.
  const isEdge = (_: number, i: number) =>
    fitted[i] !== fitted[i - 1] || fitted[i] !== fitted[i + 1];
  return { x: Array.from(pool.values.filter(isEdge)), y: Array.from(fitted.filter(isEdge)) };
}

/** Returns the probability that a fitted curve makes of a printed one. */
export function applyIsotonic(p: number, { x, y }: IsotonicFit): number {
  const above = x.findIndex((value) => value >= p);
  if (above === -1) return y.at(-1) ?? Number.NaN;
  const [right, high] = [x[above] as number, y[above] as number];
  if (above === 0 || right === p) return high;
  const [left, low] = [x[above - 1] as number, y[above - 1] as number];
  return low + ((high - low) * (p - left)) / (right - left);
}
