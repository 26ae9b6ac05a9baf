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
export function fitRidge(featureRows: readonly Features[], targetValues: readonly number[]) {
  const intercept = computeMean(targetValues);
  const weights = new Float64Array(COLUMNS);
  const residual = addRows(featureRows, (_, rowIndex) => (targetValues[rowIndex] ?? 0) - intercept);
  let direction = residual.slice();
  let residualNorm = dot(residual, residual);
  for (let stepIndex = 0; stepIndex < STEPS && residualNorm > 1e-12; stepIndex += 1) {
    const image = addRows(featureRows, (row) => predict({ intercept: 0, weights: direction }, row));
    addTo(image, direction, PENALTY);
    const stepLength = residualNorm / dot(direction, image);
    addTo(weights, direction, stepLength);
    addTo(residual, image, -stepLength);
    const nextNorm = dot(residual, residual);
    const turnedValues = residual.slice();
    addTo(turnedValues, direction, nextNorm / residualNorm);
    [direction, residualNorm] = [turnedValues, nextNorm];
  }
  return { intercept, weights };
}

/** Returns the predicted gain of a prompt. */
export function predict({ intercept, weights }: Weights, features: Features): number {
  return features.reduce((sum, [column, value]) => sum + (weights[column] ?? 0) * value, intercept);
}

function addRows(rows: readonly Features[], factorOf: (features: Features, at: number) => number) {
  const sum = new Float64Array(COLUMNS);
  rows.forEach((features, rowIndex) => {
    const rowFactor = factorOf(features, rowIndex);
    for (const [column, value] of features) sum[column] = (sum[column] ?? 0) + rowFactor * value;
  });
  return sum;
}

function addTo(targetVector: Float64Array, addedValues: Float64Array, scaleFactor: number): void {
  for (let column = 0; column < targetVector.length; column += 1)
    targetVector[column] = (targetVector[column] ?? 0) + scaleFactor * (addedValues[column] ?? 0);
}

function dot(one: Float64Array, other: Float64Array): number {
  let dotProduct = 0;
  for (let at = 0; at < one.length; at += 1) dotProduct += (one[at] ?? 0) * (other[at] ?? 0);
  return dotProduct;
}
