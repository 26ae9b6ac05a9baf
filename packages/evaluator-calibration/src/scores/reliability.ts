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

function curveOfPool(pool: Pool) {
  const observedValues = monotoneMeans(pool.positives, pool.weights);
  const points = Array.from(pool.values, (value, index) => ({
    p: value,
    n: pool.counts[index] as number,
    /** The share of true rows; `observed` is the monotone estimate of it. */
    raw: (pool.positives[index] as number) / (pool.weights[index] as number),
    observed: observedValues[index] as number,
  }));
  return { points, ...brierParts(pool, observedValues) };
}

function brierParts({ values, weights, positives }: Pool, observedValues: Float64Array) {
  let [total, positive, brier, relabelledValue] = [0, 0, 0, 0];
  for (let i = 0; i < values.length; i += 1) {
    const ones = positives[i] as number;
    const all = weights[i] as number;
    total += all;
    positive += ones;
    brier += computeScore(values[i] as number, ones, all);
    relabelledValue += computeScore(observedValues[i] as number, ones, all);
  }
  const rate = positive / total;
  const uncertainty = rate * (1 - rate);
  return {
    miscalibration: (brier - relabelledValue) / total,
    discrimination: uncertainty - relabelledValue / total,
    uncertainty,
    brier: brier / total,
    /** 1 minus the Brier score divided by that of the base rate; NaN if all rows have one truth. */
    skill: uncertainty === 0 ? Number.NaN : 1 - brier / total / uncertainty,
  };
}

function computeScore(q: number, ones: number, all: number): number {
  return ones * (1 - q) ** 2 + (all - ones) * q ** 2;
}

/** The bin of a value by its position, in bins: equal values are never parted. */
// 0.1 + 0.2 is a little over 0.3 in binary.
const binsOf = {
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
  readonly binning?: keyof typeof binsOf | undefined;
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
  if (!Object.hasOwn(binsOf, binning)) {
    rejectValue("binning", binning, '"width" or "mass"');
  }
  const total = computeSum(weights);
  const distances = new Map<number, number>();
  let below = 0;
  for (let i = 0; i < values.length; i += 1) {
    const [value, weight] = [values[i] as number, weights[i] as number];
    const position = bins * { width: value, mass: below / total }[binning];
    const bin = Math.min(bins - 1, binsOf[binning](position));
    const distance = (positives[i] as number) - weight * value;
    distances.set(bin, (distances.get(bin) ?? 0) + distance);
    below += weight;
  }
  return [...distances.values()].reduce((sum, distance) => sum + Math.abs(distance), 0) / total;
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
  const p = hasManyValues
    ? printedValues.map((one) => Math.round(1000 * one) / 1000)
    : printedValues;
  const pool = poolRows(p, cameTrue, weights);
  const { points, miscalibration, discrimination, uncertainty } = curveOfPool(pool);
  // Rows of one value and one weight are drawn in one go.
  const cells = listCells(p, new Uint8Array(p.length), weights);
  const chance = drawByChance(pool, cells, seed);
  const bandedItems = points.map((point, i) => Object.assign(point, chance.bandAt(i)));
  const isCalibrated = miscalibration <= chance.miscalibration;
  return {
    points: bandedItems,
    miscalibration,
    /** The upper limit of the miscalibration in 95 of 100 cases if every printed value is true. */
    miscalibrationByChance: chance.miscalibration,
    discrimination,
    uncertainty,
    isCalibrated,
    /** Adjacent printed values outside the band. */
    wrongRanges: isCalibrated ? [] : rangesOutside(bandedItems),
    /** Secondary: it depends on the bins, and is above 0 even if every value is true. */
    calibrationError: {
      equalWidth: computeCalibrationError(pool, { binning: "width" }),
      equalWidthByChance: chance.equalWidth,
      equalMass: computeCalibrationError(pool, { binning: "mass" }),
      equalMassByChance: chance.equalMass,
    },
  };
}

/** Whether the probabilities hold. */
export type CurveReport = ReturnType<typeof curveOfRows>;

/** How often truths are drawn. */
const DRAWS = 500;

/** Draws truths as if every value were true, and returns how far the figures then are from perfect. */
function drawByChance(pool: Pool, cells: ReturnType<typeof listCells>, seed: number) {
  const random = seededRandom(seed);
  const draws = cells.map(({ value, weight, count }) => {
    const drawOnes = binomialDrawer(count, computeMeaning(value));
    return { at: pool.values.indexOf(value), weight, drawOnes };
  });
  const curves = Array.from(pool.values, () => new Float64Array(DRAWS));
  const miscalibrations = new Float64Array(DRAWS);
  let [equalWidth, equalMass] = [0, 0];
  for (let round = 0; round < DRAWS; round += 1) {
    const drawnSample = { ...pool, positives: new Float64Array(curves.length) };
    for (const { at, weight, drawOnes } of draws) {
      drawnSample.positives[at] = (drawnSample.positives[at] as number) + weight * drawOnes(random);
    }
    const observedValues = monotoneMeans(drawnSample.positives, pool.weights);
    miscalibrations[round] = brierParts(drawnSample, observedValues).miscalibration;
    for (const [i, curve] of curves.entries()) curve[round] = observedValues[i] as number;
    equalWidth += computeCalibrationError(drawnSample, { binning: "width" });
    equalMass += computeCalibrationError(drawnSample, { binning: "mass" });
  }
  return {
    miscalibration: computeQuantile(miscalibrations, 0.95),
    equalWidth: equalWidth / DRAWS,
    equalMass: equalMass / DRAWS,
    /** The middle 90 % of the draws. */
    bandAt: (value: number) => {
      const drawnValues = curves[value] as Float64Array;
      return { low: computeQuantile(drawnValues, 0.05), high: computeQuantile(drawnValues, 0.95) };
    },
  };
}

// A printed 0 is anything below half a printed unit, a printed 1 anything above one less it.
function computeMeaning(printedValue: number): number {
  const middle = HALF_A_PRINTED_UNIT / 2;
  return Math.min(Math.max(printedValue, middle), 1 - middle);
}

/** Returns ranges of adjacent points; the one that is farthest out, by rows times distance, is the first. */
function rangesOutside(
  points: readonly (CorpCurve["points"][number] & {
    readonly low: number;
    readonly high: number;
  })[],
) {
  type Range = { from: number; to: number; is: "too high" | "too low"; n: number };
  const ranges: { readonly range: Range; excess: number }[] = [];
  let before: "too high" | "too low" | null = null;
  for (const { p, observed: observedValue, n, low, high } of points) {
    const is = observedValue < low ? "too high" : observedValue > high ? "too low" : null;
    if (is !== null) {
      if (is !== before) ranges.push({ range: { from: p, to: p, is, n: 0 }, excess: 0 });
      const last = ranges.at(-1) as (typeof ranges)[number];
      last.range.to = p;
      last.range.n += n;
      last.excess += n * Math.max(low - observedValue, observedValue - high);
    }
    before = is;
  }
  return ranges.toSorted((one, other) => other.excess - one.excess).map(({ range }) => range);
}
