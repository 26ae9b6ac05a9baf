import { checkRows, type Numbers, type Weighted } from "../math/rows.ts";
import { binomialDrawer, seededRandom } from "../math/random.ts";
import { HALF_A_PRINTED_UNIT } from "./probability-scores.ts";
import { monotoneMeans, type Pool, poolRows } from "./pool.ts";

/** One printed value. */
export interface CurvePoint {
  readonly p: number;
  /** Rows with this value. */
  readonly n: number;
  /** The share of them that came true. */
  readonly raw: number;
  /** The same by the monotone curve. */
  readonly observed: number;
}

/** A reliability curve and the three parts of the Brier score: miscalibration − discrimination + uncertainty. */
export interface CorpCurve {
  readonly points: readonly CurvePoint[];
  /** The part of the Brier score that a perfect relabelling of the values removes. */
  readonly miscalibration: number;
  /** The worth of the values after that relabelling. */
  readonly discrimination: number;
  /** The Brier score of the constant base-rate prediction. */
  readonly uncertainty: number;
  readonly brier: number;
}

/**
 * Returns the reliability curve by isotonic regression (CORP), free of any choice of bins.
 *
 * @example corpCurve([0.2, 0.2, 0.7], [0, 1, 1]).points // [{ p: 0.2, n: 2, raw: 0.5, observed: 0.5 }, …]
 */
export function corpCurve(p: Numbers, truth: Numbers, { weights }: Weighted = {}): CorpCurve {
  checkRows(p, truth, { weights });
  const pool = poolRows(p, truth, weights);
  const observed = monotoneMeans(pool.positives, pool.weights);
  const parts = brierParts(pool, observed);
  const points = Array.from(pool.values, (value, index) => ({
    p: value,
    n: pool.counts[index] as number,
    raw: (pool.positives[index] as number) / (pool.weights[index] as number),
    observed: observed[index] as number,
  }));
  return { points, ...parts };
}

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

/** The range of the curve by chance if every printed value is true. */
export interface ConsistencyBand {
  /** The limits of the middle 90 % of the draws at each value of the pool. */
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** An upper limit of the miscalibration in 95 % of the draws. */
  readonly miscalibrationByChance: number;
}

/** How often truths are drawn. */
export const DRAWS = 500;

/** Returns the range of curve and miscalibration by chance if every printed value is true. */
export function consistencyBand(
  p: Numbers,
  { weights, seed }: Weighted & { readonly seed: number },
): ConsistencyBand {
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
  return { low, high, miscalibrationByChance: quantileOf(miscalibrations.toSorted(), 0.95) };
}

/** Returns a pool of the rows and a function that draws new truths, as if every value were true. */
export function redrawer(
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
