import { calibrationErrorByChance, expectedCalibrationError } from "../scores/calibration-error.ts";
import { consistencyBand, corpCurveOfPool, type CurvePoint } from "../scores/corp-curve.ts";
import { poolRows } from "../scores/pool.ts";
import type { LabelledRows } from "./labelled-rows.ts";

/** One printed value, and where its curve lies by chance. */
export interface BandedPoint extends CurvePoint {
  readonly low: number;
  readonly high: number;
}

/** Printed values next to each other that lie outside the band. */
export interface WrongRange {
  readonly from: number;
  readonly to: number;
  /** What is printed there, against what came true. */
  readonly is: "too high" | "too low";
  readonly n: number;
}

/** Whether the probabilities hold. */
export interface CurveReport {
  readonly points: readonly BandedPoint[];
  readonly miscalibration: number;
  /** What miscalibration stays below in 95 of 100 cases when every printed value is true. */
  readonly miscalibrationByChance: number;
  readonly discrimination: number;
  readonly uncertainty: number;
  readonly isCalibrated: boolean;
  readonly wrongRanges: readonly WrongRange[];
  /** Secondary: it hangs on the bins, and is above 0 even where every value is true. */
  readonly calibrationError: {
    readonly equalWidth: number;
    readonly equalWidthByChance: number;
    readonly equalMass: number;
    readonly equalMassByChance: number;
  };
}

// A band around each of very many values would take minutes, and say no more.
const MOST_VALUES = 1001;

/** Returns the reliability curve with its band, and where it leaves it. */
export function curveOfRows(rows: LabelledRows, seed: number): CurveReport {
  const { cameTrue, weights } = rows;
  const p = coarse(rows.p);
  const pool = poolRows(p, cameTrue, weights);
  const { points, miscalibration, discrimination, uncertainty } = corpCurveOfPool(pool);
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
    // Most are printed with two decimals: a set is slow to tell a million times that it has them.
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

/** The range that is farthest out, by rows times distance, comes first. */
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
