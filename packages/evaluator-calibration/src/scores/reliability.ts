import { listCells, monotoneMeans, type Pool, poolRows } from "../math/pool.ts";
import { binomialDrawer, seededRandom } from "../math/random.ts";
import {
  checkRows,
  computeQuantile,
  computeSum,
  type Numbers,
  rejectValue,
  type Weighted,
} from "../math/rows.ts";
import { HALF_A_PRINTED_UNIT } from "./probability-scores.ts";

/**
 * Returns the reliability curve by isotonic regression (CORP), free of any choice of bins, and the three
 * parts of the Brier score: miscalibration − discrimination + uncertainty. Each point is a printed value.
 * Its `skill` is 0 for the constant base-rate prediction, and 1 for perfect answers.
 *
 * @example corpCurve([0.2, 0.2, 0.7], [0, 1, 1]).points // [{ p: 0.2, n: 2, raw: 0.5, observed: 0.5 }, …]
 */
export function corpCurve(p: Numbers, truth: Numbers, { weights }: Weighted = {}) {
  checkRows(p, truth, { weights });
  return curveOfPool(poolRows(p, truth, weights));
}

/** A reliability curve. */
export type CorpCurve = ReturnType<typeof corpCurve>;

function curveOfPool(pooledRows: Pool) {
  const observedValues = monotoneMeans(pooledRows.positives, pooledRows.weights);
  const curvePoints = Array.from(pooledRows.values, (probability, valueIndex) => ({
    p: probability,
    n: pooledRows.counts[valueIndex] as number,
    /** The share of true rows; `observed` is the monotone estimate of it. */
    raw: (pooledRows.positives[valueIndex] as number) / (pooledRows.weights[valueIndex] as number),
    observed: observedValues[valueIndex] as number,
  }));
  return { points: curvePoints, ...brierParts(pooledRows, observedValues) };
}

function brierParts({ values, weights, positives }: Pool, observedValues: Float64Array) {
  let [totalWeight, positiveWeight, brierSum, relabelledValue] = [0, 0, 0, 0];
  for (let valueIndex = 0; valueIndex < values.length; valueIndex += 1) {
    const positivePart = positives[valueIndex] as number;
    const valueWeight = weights[valueIndex] as number;
    totalWeight += valueWeight;
    positiveWeight += positivePart;
    brierSum += computeScore(values[valueIndex] as number, positivePart, valueWeight);
    relabelledValue += computeScore(
      observedValues[valueIndex] as number,
      positivePart,
      valueWeight,
    );
  }
  const baseRate = positiveWeight / totalWeight;
  const uncertainty = baseRate * (1 - baseRate);
  return {
    miscalibration: (brierSum - relabelledValue) / totalWeight,
    discrimination: uncertainty - relabelledValue / totalWeight,
    uncertainty,
    brier: brierSum / totalWeight,
    /** 1 minus the Brier score divided by that of the base rate; NaN if all rows have one truth. */
    skill: uncertainty === 0 ? Number.NaN : 1 - brierSum / totalWeight / uncertainty,
  };
}

function computeScore(q: number, ones: number, all: number): number {
  return ones * (1 - q) ** 2 + (all - ones) * q ** 2;
}

/** The bin of a value by its position, in bins: equal values are never parted. */
// 0.1 + 0.2 is a little over 0.3 in binary.
const binAtPosition = {
  /** Bins of equal width hold their right edge, and the first holds 0. */
  width: (position: number) => Math.max(0, Math.ceil(position - 1e-9) - 1),
  /** Bins of about equally many rows; the value that fills a bin is its last one. */
  mass: (position: number) => Math.floor(position + 1e-9),
};

/** How values are put into bins. */
interface BinOptions {
  /** A whole number from 1 up. @default 10 */
  readonly bins?: number | undefined;
  /** Bins of equal width, or of about equally many rows. @default "width" */
  readonly binning?: keyof typeof binAtPosition | undefined;
}

/**
 * Returns the expected calibration error, from 0 to 1: |observed − mean value| of each bin, weighted by its
 * rows. It depends on the bins and is above 0 even if every value is true; `corpCurve` needs no bins.
 *
 * @throws RangeError that names the first invalid row, or the option.
 * @example expectedCalibrationError([0.9, 0.9, 0.2], [1, 0, 0], { bins: 5 }) // 0.333…
 */
export function expectedCalibrationError(
  p: Numbers,
  truth: Numbers,
  { weights, ...options }: BinOptions & Weighted = {},
): number {
  checkRows(p, truth, { weights });
  return computeCalibrationError(poolRows(p, truth, weights), options);
}

function computeCalibrationError(
  { values, weights, positives }: Pool,
  { bins = 10, binning = "width" }: BinOptions,
): number {
  if (!(Number.isSafeInteger(bins) && bins > 0)) {
    rejectValue("bins", bins, "a whole number from 1 up");
  }
  if (!Object.hasOwn(binAtPosition, binning)) {
    rejectValue("binning", binning, '"width" or "mass"');
  }
  const totalWeight = computeSum(weights);
  const distances = new Map<number, number>();
  let weightBelow = 0;
  for (let valueIndex = 0; valueIndex < values.length; valueIndex += 1) {
    const [probability, valueWeight] = [
      values[valueIndex] as number,
      weights[valueIndex] as number,
    ];
    const position = bins * { width: probability, mass: weightBelow / totalWeight }[binning];
    const binIndex = Math.min(bins - 1, binAtPosition[binning](position));
    const distance = (positives[valueIndex] as number) - valueWeight * probability;
    distances.set(binIndex, (distances.get(binIndex) ?? 0) + distance);
    weightBelow += valueWeight;
  }
  return (
    [...distances.values()].reduce((runningSum, distance) => runningSum + Math.abs(distance), 0) /
    totalWeight
  );
}

// A band around each of very many values would take minutes, and show no more.
const MOST_VALUES = 1001;

/** Returns the reliability curve with its band, and the ranges outside the band. */
export function curveOfRows(
  {
    p: printedValues,
    cameTrue,
    weights,
  }: Weighted & { readonly p: Float64Array; readonly cameTrue: Numbers },
  seed: number,
) {
  const hasManyValues = new Set(printedValues).size > MOST_VALUES;
  const roundedValues = hasManyValues
    ? printedValues.map((printedValue) => Math.round(1000 * printedValue) / 1000)
    : printedValues;
  const pooledRows = poolRows(roundedValues, cameTrue, weights);
  const { points, miscalibration, discrimination, uncertainty } = curveOfPool(pooledRows);
  // Rows of one value and one weight are drawn in one go.
  const probabilityCells = listCells(roundedValues, new Uint8Array(roundedValues.length), weights);
  const chanceCurve = drawByChance(pooledRows, probabilityCells, seed);
  const bandedItems = points.map((curvePoint, pointIndex) =>
    Object.assign(curvePoint, chanceCurve.bandAt(pointIndex)),
  );
  const isCalibrated = miscalibration <= chanceCurve.miscalibration;
  return {
    points: bandedItems,
    miscalibration,
    /** The upper limit of the miscalibration in 95 of 100 cases if every printed value is true. */
    miscalibrationByChance: chanceCurve.miscalibration,
    discrimination,
    uncertainty,
    isCalibrated,
    /** Adjacent printed values outside the band. */
    wrongRanges: isCalibrated ? [] : rangesOutside(bandedItems),
    /** Secondary: it depends on the bins, and is above 0 even if every value is true. */
    calibrationError: {
      equalWidth: computeCalibrationError(pooledRows, { binning: "width" }),
      equalWidthByChance: chanceCurve.equalWidth,
      equalMass: computeCalibrationError(pooledRows, { binning: "mass" }),
      equalMassByChance: chanceCurve.equalMass,
    },
  };
}

/** Whether the probabilities hold. */
export type CurveReport = ReturnType<typeof curveOfRows>;

/** How often truths are drawn. */
const DRAW_COUNT = 500;

/** Draws truths as if every value were true, and returns how far the figures then are from perfect. */
function drawByChance(
  pooledRows: Pool,
  probabilityCells: ReturnType<typeof listCells>,
  seed: number,
) {
  const nextRandom = seededRandom(seed);
  const cellDraws = probabilityCells.map(({ value, weight, count }) => {
    const drawOnes = binomialDrawer(count, computeMeaning(value));
    return { at: pooledRows.values.indexOf(value), weight, drawOnes };
  });
  const drawnCurves = Array.from(pooledRows.values, () => new Float64Array(DRAW_COUNT));
  const miscalibrations = new Float64Array(DRAW_COUNT);
  let [equalWidth, equalMass] = [0, 0];
  for (let drawIndex = 0; drawIndex < DRAW_COUNT; drawIndex += 1) {
    const drawnSample = { ...pooledRows, positives: new Float64Array(drawnCurves.length) };
    for (const { at, weight, drawOnes } of cellDraws) {
      drawnSample.positives[at] =
        (drawnSample.positives[at] as number) + weight * drawOnes(nextRandom);
    }
    const observedValues = monotoneMeans(drawnSample.positives, pooledRows.weights);
    miscalibrations[drawIndex] = brierParts(drawnSample, observedValues).miscalibration;
    for (const [valueIndex, drawnCurve] of drawnCurves.entries())
      drawnCurve[drawIndex] = observedValues[valueIndex] as number;
    equalWidth += computeCalibrationError(drawnSample, { binning: "width" });
    equalMass += computeCalibrationError(drawnSample, { binning: "mass" });
  }
  return {
    miscalibration: computeQuantile(miscalibrations, 0.95),
    equalWidth: equalWidth / DRAW_COUNT,
    equalMass: equalMass / DRAW_COUNT,
    /** The middle 90 % of the draws. */
    bandAt: (valueIndex: number) => {
      const drawnValues = drawnCurves[valueIndex] as Float64Array;
      return { low: computeQuantile(drawnValues, 0.05), high: computeQuantile(drawnValues, 0.95) };
    },
  };
}

// A printed 0 is anything below half a printed unit, a printed 1 anything above one less it.
function computeMeaning(printedValue: number): number {
  const halfUnit = HALF_A_PRINTED_UNIT / 2;
  return Math.min(Math.max(printedValue, halfUnit), 1 - halfUnit);
}

/** Returns ranges of adjacent points; the one that is farthest out, by rows times distance, is the first. */
function rangesOutside(
  curvePoints: readonly (CorpCurve["points"][number] & {
    readonly low: number;
    readonly high: number;
  })[],
) {
  type Range = { from: number; to: number; is: "too high" | "too low"; n: number };
  const foundRanges: { readonly range: Range; excess: number }[] = [];
  let directionBefore: "too high" | "too low" | null = null;
  for (const { p, observed: observedValue, n, low, high } of curvePoints) {
    const direction = observedValue < low ? "too high" : observedValue > high ? "too low" : null;
    if (direction !== null) {
      if (direction !== directionBefore)
        foundRanges.push({ range: { from: p, to: p, is: direction, n: 0 }, excess: 0 });
      const lastRange = foundRanges.at(-1) as (typeof foundRanges)[number];
      lastRange.range.to = p;
      lastRange.range.n += n;
      lastRange.excess += n * Math.max(low - observedValue, observedValue - high);
    }
    directionBefore = direction;
  }
  return foundRanges
    .toSorted((firstRange, secondRange) => secondRange.excess - firstRange.excess)
    .map(({ range }) => range);
}
