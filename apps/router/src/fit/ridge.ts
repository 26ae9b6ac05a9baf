import { meanOf } from "../labels/tier-points.ts";
import { COLUMNS, type Features } from "./features.ts";

/** A linear prediction of what the dear tier adds in quality. */
export interface Weights {
  readonly intercept: number;
  /** One for each column. */
  readonly weights: ArrayLike<number>;
}

/** Steps of the conjugate gradients; more change no order. */
const STEPS = 30;

const PENALTY = 1;

/** Fits weights by ridge regression, with conjugate gradients: linear in the number of features. */
export function fitRidge(rows: readonly Features[], targets: readonly number[]) {
  const intercept = meanOf(targets);
  const weights = new Float64Array(COLUMNS);
  const residual = addRows(rows, (at) => (targets[at] ?? 0) - intercept);
  let direction = residual.slice();
  let norm = dot(residual, residual);
  for (let step = 0; step < STEPS && norm > 1e-12; step += 1) {
    const image = addRows(rows, (at) => predict({ intercept: 0, weights: direction }, rows[at]));
    addTo(image, direction, PENALTY);
    const length = norm / dot(direction, image);
    addTo(weights, direction, length);
    addTo(residual, image, -length);
    const next = dot(residual, residual);
    const turned = residual.slice();
    addTo(turned, direction, next / norm);
    [direction, norm] = [turned, next];
  }
  return { intercept, weights };
}

/** Returns the predicted gain of a prompt. */
export function predict({ intercept, weights }: Weights, row: Features | undefined): number {
  let sum = intercept;
  row?.columns.forEach((column, at) => {
    sum += (weights[column] ?? 0) * (row.values[at] ?? 0);
  });
  return sum;
}

function addRows(rows: readonly Features[], factorOf: (at: number) => number): Float64Array {
  const sum = new Float64Array(COLUMNS);
  rows.forEach(({ columns, values }, row) => {
    const factor = factorOf(row);
    columns.forEach((column, at) => {
      sum[column] = (sum[column] ?? 0) + factor * (values[at] ?? 0);
    });
  });
  return sum;
}

function addTo(sum: Float64Array, added: Float64Array, factor: number): void {
  for (let at = 0; at < sum.length; at += 1) sum[at] = (sum[at] ?? 0) + factor * (added[at] ?? 0);
}

function dot(one: Float64Array, other: Float64Array): number {
  return one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
}
