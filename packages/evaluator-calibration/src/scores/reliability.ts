import { checkRows, type Numbers, type Weighted } from "../math/rows.ts";
import { binomialDrawer, seededRandom } from "../math/random.ts";
import { HALF_A_PRINTED_UNIT } from "./probability-scores.ts";
import { monotoneMeans, type Pool, poolRows } from "./pool.ts";

/**
 * Returns the reliability curve by isotonic regression (CORP), free of any choice of bins, and the three
 * parts of the Brier score: miscalibration − discrimination + uncertainty. Each point is a printed value.
 *
 * @example corpCurve([0.2, 0.2, 0.7], [0, 1, 1]).points // [{ p: 0.2, n: 2, raw: 0.5, observed: 0.5 }, …]
 */
export function corpCurve(p: Numbers, truth: Numbers, { weights }: Weighted = {}) {
  checkRows(p, truth, { weights });
  const pool = poolRows(p, truth, weights);
  const observed = monotoneMeans(pool.positives, pool.weights);
  const parts = brierParts(pool, observed);
  const points = Array.from(pool.values, (value, index) => ({
    p: value,
    n: pool.counts[index] as number,
    /** The share of true rows; `observed` is the monotone estimate of it. */
    raw: (pool.positives[index] as number) / (pool.weights[index] as number),
    observed: observed[index] as number,
  }));
  return { points, ...parts };
}

/** A reliability curve. */
export type CorpCurve = ReturnType<typeof corpCurve>;
/** One printed value of the curve. */
export type CurvePoint = CorpCurve["points"][number];

function brierParts({ values, weights, positives }: Pool, observed: Float64Array) {
  let [total, positive] = [0, 0];
  for (let i = 0; i < values.length; i += 1) {
    total += weights[i] as number;
    positive += positives[i] as number;
  }
  const rate = positive / total;
  let [brier, relabelled] = [0, 0];
  for (let i = 0; i < values.length; i += 1) {
    const ones = positives[i] as number;
    const all = weights[i] as number;
    brier += scoreOf(values[i] as number, ones, all);
    relabelled += scoreOf(observed[i] as number, ones, all);
  }
  const uncertainty = rate * (1 - rate);
  return {
    miscalibration: (brier - relabelled) / total,
    discrimination: uncertainty - relabelled / total,
    uncertainty,
    brier: brier / total,
  };
}

function scoreOf(q: number, ones: number, all: number): number {
  return ones * (1 - q) ** 2 + (all - ones) * q ** 2;
}

/** How often truths are drawn. */
const DRAWS = 500;

/** Returns the range of curve (the middle 90 % of draws) and miscalibration by chance if every value is true. */
export function consistencyBand(
  p: Numbers,
  { weights, seed }: Weighted & { readonly seed: number },
) {
  const draws = DRAWS;
  const { pool, draw } = redrawer(p, weights, seed);
  const size = pool.values.length;
  const curves = new Float64Array(size * draws);
  const miscalibrations = new Float64Array(draws);
  for (let round = 0; round < draws; round += 1) {
    draw();
    const observed = monotoneMeans(pool.positives, pool.weights);
    miscalibrations[round] = brierParts(pool, observed).miscalibration;
    for (let i = 0; i < size; i += 1) curves[i * draws + round] = observed[i] as number;
  }
  const [low, high] = [new Float64Array(size), new Float64Array(size)];
  for (let i = 0; i < size; i += 1) {
    const drawn = curves.subarray(i * draws, (i + 1) * draws).toSorted();
    low[i] = quantileOf(drawn, 0.05);
    high[i] = quantileOf(drawn, 0.95);
  }
  /** The upper limit of the miscalibration in 95 % of the draws. */
  const miscalibrationByChance = quantileOf(miscalibrations.toSorted(), 0.95);
  return { low, high, miscalibrationByChance };
}

/** Returns a pool of the rows and a function that draws new truths, as if every value were true. */
function redrawer(
  p: Numbers,
  weights: Numbers | undefined,
  seed: number,
): { pool: Pool; draw: () => void } {
  const random = seededRandom(seed);
  const pool = poolRows(p, new Uint8Array(p.length), weights);
  // Rows of one value and one weight are drawn in one go.
  const cells = cellsOf(p, weights, pool).map(({ at, weight, count }) => {
    return { at, weight, drawOnes: binomialDrawer(count, meaningOf(pool.values[at] as number)) };
  });
  const draw = () => {
    pool.positives.fill(0);
    for (const { at, weight, drawOnes } of cells) {
      pool.positives[at] = (pool.positives[at] as number) + weight * drawOnes(random);
    }
  };
  return { pool, draw };
}

// A printed 0 is anything below half a printed unit, a printed 1 anything above one less it.
function meaningOf(printed: number): number {
  const middle = HALF_A_PRINTED_UNIT / 2;
  return Math.min(Math.max(printed, middle), 1 - middle);
}

interface Cell {
  readonly at: number;
  readonly weight: number;
  readonly count: number;
}

function cellsOf(p: Numbers, weights: Numbers | undefined, pool: Pool): Cell[] {
  if (weights === undefined) {
    return Array.from(pool.counts, (count, at) => ({ at, weight: 1, count }));
  }
  const positions = new Map(Array.from(pool.values, (value, at) => [value, at]));
  const counts = new Map<string, Cell>();
  for (let i = 0; i < p.length; i += 1) {
    const [at, weight] = [positions.get(p[i] as number) ?? 0, weights[i] as number];
    const key = `${at} ${weight}`;
    counts.set(key, { at, weight, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()].toSorted(
    (one, other) => one.at - other.at || one.weight - other.weight,
  );
}

/** Returns the value of sorted numbers that a share of them does not exceed, with linear steps between. */
export function quantileOf(sorted: Float64Array, share: number): number {
  const position = share * (sorted.length - 1);
  const below = Math.floor(position);
  const [low, high] = [sorted[below], sorted[Math.min(below + 1, sorted.length - 1)]];
  if (low === undefined || high === undefined) return Number.NaN;
  return low + (position - below) * (high - low);
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
export function calibrationErrorByChance(
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
