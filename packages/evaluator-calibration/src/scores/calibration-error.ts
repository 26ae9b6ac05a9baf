import { checkRows, type Numbers, type Weighted } from "../check-rows.ts";
import { DEFAULT_SEED } from "../math/random.ts";
import { redrawer } from "./corp-curve.ts";
import { type Pool, poolRows } from "./pool.ts";

/** How values are put into bins. */
export interface BinOptions extends Weighted {
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

/** Returns the calibration error that well calibrated values of this many rows have on average, by 500 draws. */
export function calibrationErrorByChance(
  p: Numbers,
  { weights, seed = DEFAULT_SEED, ...options }: BinOptions & { readonly seed?: number } = {},
): number {
  const { pool, draw } = redrawer(p, weights, seed);
  const bins = binsOf(pool, options);
  const draws = 500;
  let sum = 0;
  for (let round = 0; round < draws; round += 1) {
    draw();
    sum += errorOfBins(pool, bins);
  }
  return sum / draws;
}

/** The bin of each value of a pool, and how many bins there are. */
interface Bins {
  readonly binOf: Uint32Array;
  readonly bins: number;
}

function binsOf(pool: Pool, { bins = 10, binning = "width" }: Omit<BinOptions, "weights">): Bins {
  if (!(Number.isInteger(bins) && bins > 0)) {
    throw new RangeError(`bins is ${bins}; it must be a positive whole number.`);
  }
  return { bins, binOf: binning === "width" ? widthBins(pool, bins) : massBins(pool, bins) };
}

function errorOfBins(pool: Pool, { binOf, bins }: Bins): number {
  const distances = new Float64Array(bins);
  let total = 0;
  for (let i = 0; i < pool.values.length; i += 1) {
    const weight = pool.weights[i] as number;
    const distance = (pool.positives[i] as number) - weight * (pool.values[i] as number);
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

/** A bin ends with the value that fills it: equal values are never parted. */
function massBins({ weights }: Pool, bins: number): Uint32Array {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const binOf = new Uint32Array(weights.length);
  let [bin, filled] = [0, 0];
  for (let i = 0; i < weights.length; i += 1) {
    binOf[i] = bin;
    filled += weights[i] as number;
    bin = Math.min(bins - 1, Math.max(bin, Math.floor((filled / total) * bins + 1e-9)));
  }
  return binOf;
}
