import { checkRows, type Numbers, type Weighted } from "../math/rows.ts";
import {
  consistencyBand,
  corpCurve,
  type CurvePoint,
  DRAWS,
  redrawer,
} from "../scores/corp-curve.ts";
import { type Pool, poolRows } from "../scores/pool.ts";
import type { LabelledRows } from "./labelled-rows.ts";

/** One printed value, and the range of its curve by chance. */
export interface BandedPoint extends CurvePoint {
  readonly low: number;
  readonly high: number;
}

/** Adjacent printed values outside the band. */
interface WrongRange {
  readonly from: number;
  readonly to: number;
  /** The printed values against the truths. */
  readonly is: "too high" | "too low";
  readonly n: number;
}

/** Whether the probabilities hold. */
export interface CurveReport {
  readonly points: readonly BandedPoint[];
  readonly miscalibration: number;
  /** The upper limit of the miscalibration in 95 of 100 cases if every printed value is true. */
  readonly miscalibrationByChance: number;
  readonly discrimination: number;
  readonly uncertainty: number;
  readonly isCalibrated: boolean;
  readonly wrongRanges: readonly WrongRange[];
  /** Secondary: it depends on the bins, and is above 0 even if every value is true. */
  readonly calibrationError: {
    readonly equalWidth: number;
    readonly equalWidthByChance: number;
    readonly equalMass: number;
    readonly equalMassByChance: number;
  };
}

// A band around each of very many values would take minutes, and show no more.
const MOST_VALUES = 1001;

/** Returns the reliability curve with its band, and the ranges outside the band. */
export function curveOfRows(rows: LabelledRows, seed: number): CurveReport {
  const { cameTrue, weights } = rows;
  const p = coarse(rows.p);
  const { points, miscalibration, discrimination, uncertainty } = corpCurve(p, cameTrue, {
    weights,
  });
  const { low, high, miscalibrationByChance } = consistencyBand(p, { weights, seed });
  const banded = points.map((point, i) =>
    Object.assign(point, { low: low[i] as number, high: high[i] as number }),
  );
  const isCalibrated = miscalibration <= miscalibrationByChance;
  const mass = { binning: "mass", weights } as const;
  return {
    points: banded,
    miscalibration,
    miscalibrationByChance,
    discrimination,
    uncertainty,
    isCalibrated,
    wrongRanges: isCalibrated ? [] : rangesOutside(banded),
    calibrationError: {
      equalWidth: expectedCalibrationError(p, cameTrue, { weights }),
      equalWidthByChance: calibrationErrorByChance(p, { weights, seed }),
      equalMass: expectedCalibrationError(p, cameTrue, mass),
      equalMassByChance: calibrationErrorByChance(p, { ...mass, seed }),
    },
  };
}

function coarse(p: Float64Array): Float64Array {
  const values = new Set<number>();
  const isSeen = new Uint8Array(101);
  for (const value of p) {
    // Most are printed with two decimals; an array finds these faster than a set.
    const hundredth = Math.round(100 * value);
    if (hundredth / 100 === value) {
      if (isSeen[hundredth] === 1) continue;
      isSeen[hundredth] = 1;
    }
    values.add(value);
    if (values.size > MOST_VALUES) return p.map((other) => Math.round(1000 * other) / 1000);
  }
  return p;
}

/** The range that is farthest out, by rows times distance, is the first. */
function rangesOutside(points: readonly BandedPoint[]): WrongRange[] {
  const ranges: (WrongRange & { readonly excess: number })[] = [];
  let before: WrongRange["is"] | null = null;
  for (const { p, observed, n, low, high } of points) {
    const is: WrongRange["is"] | null =
      observed < low ? "too high" : observed > high ? "too low" : null;
    const excess = n * Math.max(low - observed, observed - high);
    const last = ranges.at(-1);
    if (is !== null && is === before && last !== undefined) {
      const joined = { from: last.from, to: p, is, n: last.n + n, excess: last.excess + excess };
      ranges[ranges.length - 1] = joined;
    } else if (is !== null) ranges.push({ from: p, to: p, is, n, excess });
    before = is;
  }
  return ranges
    .toSorted((one, other) => other.excess - one.excess)
    .map(({ from, to, is, n }) => ({ from, to, is, n }));
}

/** How values are put into bins. */
interface BinOptions extends Weighted {
  /** @default 10 */
  readonly bins?: number;
  /** Bins of equal width, or of about equally many rows. @default "width" */
  readonly binning?: "width" | "mass";
}

/** Returns the expected calibration error: |observed − mean value| of each bin, weighted by its rows. */
export function expectedCalibrationError(
  p: Numbers,
  truth: Numbers,
  { weights, ...options }: BinOptions = {},
): number {
  checkRows(p, truth, { weights });
  const pool = poolRows(p, truth, weights);
  return errorOfBins(pool, binsOf(pool, options));
}

/** Returns the mean calibration error of well calibrated values of this many rows, by random draws. */
function calibrationErrorByChance(
  p: Numbers,
  { weights, seed, ...options }: BinOptions & { readonly seed: number },
): number {
  const { pool, draw } = redrawer(p, weights, seed);
  const bins = binsOf(pool, options);
  let sum = 0;
  for (let round = 0; round < DRAWS; round += 1) {
    draw();
    sum += errorOfBins(pool, bins);
  }
  return sum / DRAWS;
}

/** Returns the bin of each value of a pool. */
function binsOf(pool: Pool, { bins = 10, binning = "width" }: Omit<BinOptions, "weights">) {
  return { width: widthBins, mass: massBins }[binning](pool, bins);
}

function errorOfBins({ values, weights, positives }: Pool, binOf: Uint32Array): number {
  const distances = new Float64Array((binOf.at(-1) ?? 0) + 1);
  let total = 0;
  for (let i = 0; i < values.length; i += 1) {
    const weight = weights[i] as number;
    const distance = (positives[i] as number) - weight * (values[i] as number);
    distances[binOf[i] as number] = (distances[binOf[i] as number] as number) + distance;
    total += weight;
  }
  return distances.reduce((sum, distance) => sum + Math.abs(distance), 0) / total;
}

/** Right-closed bins, with 0 in the first. */
function widthBins({ values }: Pool, bins: number): Uint32Array {
  return Uint32Array.from(values, (value) => {
    const position = value * bins;
    const edge = Math.round(position);
    // 0.07 × 100 is a little over 7 in binary, and 0.29 × 100 a little under 29.
    const bin = Math.abs(position - edge) < 1e-9 ? edge - 1 : Math.floor(position);
    return Math.max(0, bin);
  });
}

/** A bin ends with the value that fills it, so equal values are in one bin. */
function massBins({ weights }: Pool, bins: number): Uint32Array {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let [bin, filled] = [0, 0];
  return weights.reduce((binOf, weight, i) => {
    binOf[i] = bin;
    filled += weight;
    bin = Math.min(bins - 1, Math.max(bin, Math.floor((filled / total) * bins + 1e-9)));
    return binOf;
  }, new Uint32Array(weights.length));
}
