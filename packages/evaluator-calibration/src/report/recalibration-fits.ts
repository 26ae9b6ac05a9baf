import { type Recalibration, TEMPERATURE_LIMITS } from "../artifact.ts";
import { monotoneMeans, type Pool, poolRows } from "../math/pool.ts";
import type { Numbers, Weighted } from "../math/rows.ts";
import { logOdds, type FitParameters } from "../recalibration.ts";
import { HALF_A_PRINTED_UNIT } from "../scores/probability-scores.ts";

type Kind = Recalibration["kind"];

/** Rows of one probability for each option or level, one after the other; or of the probability of yes. */
interface ProbabilityTable {
  /** How many probabilities a row has. */
  readonly width: number;
  readonly values: Numbers;
}

/** Truth has the index of each row's option, or 0 and 1. */
type FittedRows = Weighted & { readonly table: ProbabilityTable; readonly truth: Numbers };

/** How each kind of recalibration is fitted. A browser that applies one needs none of it. */
const fitters: { [TKind in Kind]: (fittedRows: FittedRows) => FitParameters<TKind> } = {
  logistic: ({ table, truth, weights }) => fitLine(poolRows(table.values, truth, weights)),
  /** The temperature with the lowest log loss. */
  temperature: (fittedRows) => ({ temperature: fitTemperature(fittedRows) }),
  isotonic({ table, truth, weights }) {
    const pooledRows = poolRows(table.values, truth, weights);
    const fittedValues = monotoneMeans(pooledRows.positives, pooledRows.weights);
    // Inside a flat stretch no point is needed.
    const isEdge = (_: number, valueIndex: number) =>
      fittedValues[valueIndex] !== fittedValues[valueIndex - 1] ||
      fittedValues[valueIndex] !== fittedValues[valueIndex + 1];
    return {
      x: Array.from(pooledRows.values.filter(isEdge)),
      y: Array.from(fittedValues.filter(isEdge)),
    };
  },
};

/** Returns the recalibration of a kind that fits labelled rows best. */
export function toFit<TKind extends Kind>(kind: TKind, fittedRows: FittedRows) {
  const anyFit = { kind, parameters: fitters[kind](fittedRows) } as Recalibration;
  return anyFit as Extract<Recalibration, { kind: TKind }>;
}

type Line = FitParameters<"logistic">;

// If the truths separate cleanly, the best slope is infinite; this one is as good.
const STEEPEST = 100;

/** Newton's method, with shorter steps if a whole one makes it worse. */
function fitLine(pooledRows: Pool): Line {
  const odds = pooledRows.values.map(logOdds);
  // One value does not determine a slope.
  let lineFit: Line = { intercept: 0, slope: odds.some((logOdd) => logOdd !== odds[0]) ? 1 : 0 };
  let loss = computeLoss(lineFit, pooledRows, odds);
  for (let iteration = 0; iteration < 200; iteration += 1) {
    const newtonMove = newtonStep(lineFit, pooledRows, odds);
    let nextFit = lineFit;
    let nextLoss = Infinity;
    for (let stepShare = 1; stepShare > 1e-10 && !(nextLoss <= loss); stepShare /= 2) {
      nextFit = {
        intercept: lineFit.intercept + stepShare * newtonMove.intercept,
        slope: lineFit.slope + stepShare * newtonMove.slope,
      };
      nextLoss = computeLoss(nextFit, pooledRows, odds);
    }
    if (!(nextLoss <= loss)) break;
    const movedCount =
      Math.abs(nextFit.intercept - lineFit.intercept) + Math.abs(nextFit.slope - lineFit.slope);
    [lineFit, loss] = [nextFit, nextLoss];
    if (movedCount < 1e-14 * (1 + Math.abs(lineFit.slope)) || Math.abs(lineFit.slope) > STEEPEST)
      break;
  }
  return lineFit;
}

function computeLoss({ intercept, slope }: Line, pooledRows: Pool, odds: Float64Array): number {
  let loss = 0;
  for (let valueIndex = 0; valueIndex < odds.length; valueIndex += 1) {
    const x = intercept + slope * (odds[valueIndex] as number);
    const softplus = Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
    loss +=
      (pooledRows.weights[valueIndex] as number) * softplus -
      (pooledRows.positives[valueIndex] as number) * x;
  }
  return loss;
}

function newtonStep(lineFit: Line, pooledRows: Pool, odds: Float64Array): Line {
  let [g0, g1, h00, h01, h11] = [0, 0, 0, 0, 0];
  for (let valueIndex = 0; valueIndex < odds.length; valueIndex += 1) {
    const x = odds[valueIndex] as number;
    const q = 1 / (1 + Math.exp(-lineFit.intercept - lineFit.slope * x));
    const residual =
      (pooledRows.positives[valueIndex] as number) - (pooledRows.weights[valueIndex] as number) * q;
    const curvature = (pooledRows.weights[valueIndex] as number) * q * (1 - q);
    g0 += residual;
    g1 += residual * x;
    h00 += curvature;
    h01 += curvature * x;
    h11 += curvature * x * x;
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

function fitTemperature(fittedRows: FittedRows): number {
  const slopesAt = lossSlopes(fittedRows);
  const [leastBeta, mostBeta] = [1 / TEMPERATURE_LIMITS[1], 1 / TEMPERATURE_LIMITS[0]];
  let [lowBeta, highBeta] = [leastBeta, mostBeta];
  // The loss is convex in 1 / temperature: Newton's steps, kept inside the known bounds.
  let beta = 1;
  for (let iteration = 0; iteration < 100; iteration += 1) {
    const { slope, curve } = slopesAt(beta);
    if (slope > 0) highBeta = beta;
    else lowBeta = beta;
    const newtonBeta = beta - slope / curve;
    let nextBeta = (lowBeta + highBeta) / 2;
    if (newtonBeta > lowBeta && newtonBeta < highBeta) nextBeta = newtonBeta;
    else if (newtonBeta >= highBeta && highBeta === mostBeta) nextBeta = highBeta;
    else if (newtonBeta <= lowBeta && lowBeta === leastBeta) nextBeta = lowBeta;
    const movedCount = Math.abs(nextBeta - beta);
    beta = nextBeta;
    // A step of Newton's doubles the digits that are right: the next would move the last one.
    if (movedCount < 1e-10 * beta) break;
  }
  return 1 / beta;
}

/** Returns a function that computes the slope and the curvature of the loss over 1 / temperature. */
function lossSlopes({ table: { width, values }, truth, weights }: FittedRows) {
  // A power is computed once for each distinct value.
  const distinct = [...new Set(Array.from(values))];
  const indexOf = new Map(distinct.map((printedValue, valueIndex) => [printedValue, valueIndex]));
  const indices = Uint32Array.from(values, (printedValue) => indexOf.get(printedValue) as number);
  const logValues = Float64Array.from(distinct, (probability) =>
    Math.log(Math.max(probability, HALF_A_PRINTED_UNIT)),
  );
  const toWeight = (rowIndex: number) =>
    weights === undefined ? 1 : (weights[rowIndex] as number);
  let [totalWeight, trueLog] = [0, 0];
  for (let rowIndex = 0; rowIndex < truth.length; rowIndex += 1) {
    const valueIndex = indices[rowIndex * width + (truth[rowIndex] as number)] as number;
    totalWeight += toWeight(rowIndex);
    trueLog += toWeight(rowIndex) * (logValues[valueIndex] as number);
  }
  trueLog /= totalWeight;
  return (beta: number): { slope: number; curve: number } => {
    const weightTerms = logValues.map((logValue) => Math.exp(beta * logValue));
    const firstMoments = weightTerms.map(
      (weightTerm, valueIndex) => weightTerm * (logValues[valueIndex] as number),
    );
    const secondMoments = firstMoments.map(
      (firstMoment, valueIndex) => firstMoment * (logValues[valueIndex] as number),
    );
    let [slopeSum, curveSum] = [0, 0];
    for (let rowIndex = 0; rowIndex < truth.length; rowIndex += 1) {
      let [termSum, momentMean, squareSum] = [0, 0, 0];
      for (let position = rowIndex * width; position < (rowIndex + 1) * width; position += 1) {
        const valueIndex = indices[position] as number;
        termSum += weightTerms[valueIndex] as number;
        momentMean += firstMoments[valueIndex] as number;
        squareSum += secondMoments[valueIndex] as number;
      }
      momentMean /= termSum;
      slopeSum += toWeight(rowIndex) * momentMean;
      curveSum += toWeight(rowIndex) * (squareSum / termSum - momentMean * momentMean);
    }
    return { slope: slopeSum / totalWeight - trueLog, curve: curveSum / totalWeight };
  };
}
