import {
  calibrationErrorByChance,
  consistencyBand,
  corpCurve,
  type CurvePoint,
  expectedCalibrationError,
} from "../scores/reliability.ts";
import type { LabelledRows } from "./labelled-rows.ts";

// A band around each of very many values would take minutes, and show no more.
const MOST_VALUES = 1001;

/** Returns the reliability curve with its band, and the ranges outside the band. */
export function curveOfRows(rows: LabelledRows, seed: number) {
  const { cameTrue, weights } = rows;
  const hasManyValues = new Set(rows.p).size > MOST_VALUES;
  const p = hasManyValues ? rows.p.map((one) => Math.round(1000 * one) / 1000) : rows.p;
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
    /** The upper limit of the miscalibration in 95 of 100 cases if every printed value is true. */
    miscalibrationByChance,
    discrimination,
    uncertainty,
    isCalibrated,
    /** Adjacent printed values outside the band. */
    wrongRanges: isCalibrated ? [] : rangesOutside(banded),
    /** Secondary: it depends on the bins, and is above 0 even if every value is true. */
    calibrationError: {
      equalWidth: expectedCalibrationError(p, cameTrue, { weights }),
      equalWidthByChance: calibrationErrorByChance(p, { weights, seed }),
      equalMass: expectedCalibrationError(p, cameTrue, mass),
      equalMassByChance: calibrationErrorByChance(p, { ...mass, seed }),
    },
  };
}

/** Whether the probabilities hold. */
export type CurveReport = ReturnType<typeof curveOfRows>;

/** One printed value, and the range of its curve by chance. */
export interface BandedPoint extends CurvePoint {
  readonly low: number;
  readonly high: number;
}

/** The range that is farthest out, by rows times distance, is the first. */
function rangesOutside(points: readonly BandedPoint[]) {
  const ranges: { from: number; to: number; is: "too high" | "too low"; n: number }[] = [];
  const excesses = new Map<object, number>();
  let before: "too high" | "too low" | null = null;
  for (const { p, observed, n, low, high } of points) {
    const is = observed < low ? "too high" : observed > high ? "too low" : null;
    if (is !== null) {
      const isNew = is !== before;
      if (isNew) ranges.push({ from: p, to: p, is, n: 0 });
      const last = ranges[ranges.length - 1] as (typeof ranges)[number];
      last.to = p;
      last.n += n;
      const excess = n * Math.max(low - observed, observed - high);
      excesses.set(last, (excesses.get(last) ?? 0) + excess);
    }
    before = is;
  }
  const excessOf = (range: object) => excesses.get(range) ?? 0;
  return ranges.toSorted((one, other) => excessOf(other) - excessOf(one));
}
