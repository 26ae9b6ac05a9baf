import { computeMean } from "../labels/tier-points.ts";
import { COLUMNS, type Features } from "./features.ts";

/** Predicts the gain in quality of the dear tier over the cheap one; linear in the features. */
interface Weights {
  readonly intercept: number;
  /** One for each column. */
  readonly weights: ArrayLike<number>;
}

/** Steps of the conjugate gradients; more change no order. */
const STEPS = 30;

/** On prompts whose gaps depend on length and words, APGR: with 1 0.635, 3 0.637, 10 0.628, 30 0.615. */
const PENALTY = 3;

/** Fits weights by ridge regression, with conjugate gradients: linear in the number of features. */
export function fitRidge(rows: readonly Features[], targets: readonly number[]) {
  const intercept = computeMean(targets);
  const weights = new Float64Array(COLUMNS);
  const residual = addRows(rows, (_, at) => (targets[at] ?? 0) - intercept);
  let direction = residual.slice();
  let norm = dot(residual, residual);
  for (let step = 0; step < STEPS && norm > 1e-12; step += 1) {
    const image = addRows(rows, (row) => predict({ intercept: 0, weights: direction }, row));
    addTo(image, direction, PENALTY);
    const length = norm / dot(direction, image);
    addTo(weights, direction, length);
    addTo(residual, image, -length);
    const next = dot(residual, residual);
    const turnedValues = residual.slice();
    addTo(turnedValues, direction, next / norm);
    [direction, norm] = [turnedValues, next];
  }
  return { intercept, weights };
}

/** Returns the predicted gain of a prompt. */
export function predict({ intercept, weights }: Weights, row: Features): number {
  return row.reduce((sum, [column, value]) => sum + (weights[column] ?? 0) * value, intercept);
}

function addRows(rows: readonly Features[], factorOf: (row: Features, at: number) => number) {
  const sum = new Float64Array(COLUMNS);
  rows.forEach((row, at) => {
    const factor = factorOf(row, at);
    for (const [column, value] of row) sum[column] = (sum[column] ?? 0) + factor * value;
  });
  return sum;
}

function addTo(sum: Float64Array, addedValues: Float64Array, factor: number): void {
  for (let at = 0; at < sum.length; at += 1)
    sum[at] = (sum[at] ?? 0) + factor * (addedValues[at] ?? 0);
}

function dot(one: Float64Array, other: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at += 1) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}
