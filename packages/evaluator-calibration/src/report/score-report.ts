import { weightedMean } from "../check-rows.ts";
import { type LogLoss, clippedLogLoss, spiegelhalter } from "../scores/boolean-scores.ts";
import { rankedProbabilityScores } from "../scores/choice-scores.ts";
import { rocAuc, type RocAuc } from "../scores/roc-auc.ts";
import { type Interval, wilson } from "../thresholds/intervals.ts";
import { type LabelledRows, probabilityOf, truthShares } from "./labelled-rows.ts";

/** A figure with its 95 % interval. */
export interface Estimate extends Interval {
  readonly value: number;
}

/** What always giving the base rate comes to on the same rows. */
export interface ConstantPredictor {
  /** The commonest truth, which it always picks. */
  readonly always: string;
  readonly accuracy: number;
  /** The share of rows that it would be wrong about. */
  readonly wrong: Estimate;
  readonly brier: number;
  readonly logLoss: number;
  /** Of scores: its ranked probability score. */
  readonly rankedProbability: number | null;
}

/** The scores of one question, each beside the constant predictor's. */
export interface ScoreReport {
  /** From always giving the base rate (0) to knowing (1); of scores by ranked probability, else by Brier score. */
  readonly skill: Estimate;
  readonly accuracy: Estimate;
  /** Of a boolean 0 to 1, of options and levels summed over them: 0 to 2. */
  readonly brier: number;
  readonly logLoss: LogLoss;
  /** How well the probability orders what came true; of choices, that of the picked option. */
  readonly auc: RocAuc;
  /** Of unweighted yes/no rows. */
  readonly spiegelhalter: { readonly z: number; readonly pValue: number } | null;
  /** Of scores: over the inner boundaries, the same divided by their number, and the mean level. */
  readonly levels: {
    readonly rankedProbability: number;
    readonly rankedProbabilityNormalized: number;
    readonly meanAbsoluteError: number;
    readonly spearman: number;
  } | null;
  readonly constant: ConstantPredictor;
}

/** Returns every score of labelled rows. */
export function scoreRows(rows: LabelledRows): ScoreReport {
  const { truth, top, weights, p, cameTrue, kind } = rows;
  const n = truth.length;
  const shares = truthShares(rows);
  const [own, constant] =
    kind === "score" ? rankedDistances(rows, shares) : brierDistances(rows, shares);
  const commonest = shares.indexOf(Math.max(...shares));
  return {
    skill: skillOf(own, constant, weights),
    accuracy: shareOfRows(rows, isAny, (row) => top[row] === truth[row]),
    brier: weightedMean(n, weights, (i) =>
      kind === "score" ? brierOf(rows, i) : (own[i] as number),
    ),
    logLoss: clippedLogLoss(n, (i) => probabilityOf(rows, i, truth[i] as number), { weights }),
    auc: rocAuc(p, cameTrue, { weights }),
    spiegelhalter: kind === "boolean" && weights === undefined ? spiegelhalter(p, cameTrue) : null,
    levels: kind === "score" ? levelScores(rows) : null,
    constant: {
      always: rows.options[commonest] ?? "",
      accuracy: shares[commonest] ?? 0,
      wrong: shareOfRows(rows, isAny, (row) => truth[row] !== commonest),
      brier: constantBrier(shares) / (kind === "boolean" ? 2 : 1),
      logLoss: clippedLogLoss(n, (i) => shares[truth[i] as number] as number, { weights }).value,
      rankedProbability:
        kind === "score" ? weightedMean(n, weights, (i) => constant[i] as number) : null,
    },
  };
}

function isAny(): boolean {
  return true;
}

/** Returns the share of some rows that are hit, by weight, with its 95 % interval; NaN without such rows. */
export function shareOfRows(
  { truth, weights }: Pick<LabelledRows, "truth" | "weights">,
  isCounted: (row: number) => boolean,
  isHit: (row: number) => boolean,
): Estimate {
  let [total, squares, hits] = [0, 0, 0];
  for (let row = 0; row < truth.length; row += 1) {
    if (!isCounted(row)) continue;
    const weight = weights?.[row] ?? 1;
    total += weight;
    squares += weight ** 2;
    if (isHit(row)) hits += weight;
  }
  if (total === 0) return { value: Number.NaN, low: 0, high: 1 };
  // As many equal rows as the weighted ones are worth (Kish).
  const effective = total ** 2 / squares;
  return { value: hits / total, ...wilson((hits / total) * effective, effective) };
}

function constantBrier(shares: readonly number[]): number {
  return 1 - shares.reduce((sum, share) => sum + share ** 2, 0);
}

/** Returns a row's Brier score: of a boolean that of yes, of options summed over them. */
export function brierOf(rows: LabelledRows, row: number): number {
  const { truth, kind, options } = rows;
  if (kind === "boolean") return ((rows.p[row] as number) - (truth[row] as number)) ** 2;
  let sum = 0;
  for (let option = 0; option < options.length; option += 1) {
    sum += (probabilityOf(rows, row, option) - (option === truth[row] ? 1 : 0)) ** 2;
  }
  return sum;
}

type Distances = readonly [own: Float64Array, constant: Float64Array];

function brierDistances(rows: LabelledRows, shares: readonly number[]): Distances {
  const half = rows.kind === "boolean" ? 2 : 1;
  const squares = shares.reduce((sum, share) => sum + share ** 2, 0);
  const constants = shares.map((share) => (1 - 2 * share + squares) / half);
  return distancesOf(rows, (row) => brierOf(rows, row), constants);
}

/** Each row's own score, and that of always giving the base rate, which hangs on its truth alone. */
function distancesOf(
  { truth }: LabelledRows,
  ownOf: (row: number, truth: number) => number,
  constants: readonly number[],
): Distances {
  const n = truth.length;
  const distances = [new Float64Array(n), new Float64Array(n)] as const;
  for (let row = 0; row < n; row += 1) {
    const isTrue = truth[row] as number;
    distances[0][row] = ownOf(row, isTrue);
    distances[1][row] = constants[isTrue] as number;
  }
  return distances;
}

function rankedDistances(rows: LabelledRows, shares: readonly number[]): Distances {
  const ranked = (truth: number, probabilityAt: (level: number) => number) => {
    let [sum, below] = [0, 0];
    for (let level = 0; level < shares.length - 1; level += 1) {
      below += probabilityAt(level);
      sum += (below - (truth <= level ? 1 : 0)) ** 2;
    }
    return sum;
  };
  const constants = shares.map((_, truth) => ranked(truth, (level) => shares[level] as number));
  const ownOf = (row: number, truth: number) =>
    ranked(truth, (level) => probabilityOf(rows, row, level));
  return distancesOf(rows, ownOf, constants);
}

/** The interval is that of the mean difference of each row's own score and the constant's. */
function skillOf(own: Float64Array, constant: Float64Array, weights?: Float64Array): Estimate {
  const n = own.length;
  const base = weightedMean(n, weights, (i) => constant[i] as number);
  const gainOf = (i: number) => (constant[i] as number) - (own[i] as number);
  const gain = weightedMean(n, weights, gainOf);
  if (base < 1e-15) return { value: Number.NaN, low: Number.NaN, high: Number.NaN };
  const total = weights === undefined ? n : sumOf(weights);
  let squares = 0;
  for (let i = 0; i < n; i += 1) squares += ((weights?.[i] ?? 1) * (gainOf(i) - gain)) ** 2;
  const half = (1.96 * Math.sqrt((squares * n) / Math.max(1, n - 1))) / total / base;
  const value = gain / base;
  return { value, low: value - half, high: Math.min(1, value + half) };
}

function levelScores(rows: LabelledRows) {
  const { table, truth, weights } = rows;
  const { value, normalized } = rankedProbabilityScores(table, truth, { weights });
  const means = Float64Array.from(truth, (_, row) => {
    let mean = 0;
    for (let level = 1; level < table.width; level += 1) {
      mean += level * (table.values[row * table.width + level] as number);
    }
    return mean;
  });
  const distance = (i: number) => Math.abs((means[i] as number) - (truth[i] as number));
  return {
    rankedProbability: value,
    rankedProbabilityNormalized: normalized,
    meanAbsoluteError: weightedMean(truth.length, weights, distance),
    spearman: correlation(ranksOf(means), ranksOf(Float64Array.from(truth))),
  };
}

/** Ranks with the mean of equals. */
function ranksOf(values: Float64Array): Float64Array {
  const order = Uint32Array.from(values, (_, i) => i);
  order.sort((one, other) => (values[one] as number) - (values[other] as number));
  const ranks = new Float64Array(values.length);
  for (let start = 0; start < order.length;) {
    let end = start;
    while (end < order.length && values[order[end] as number] === values[order[start] as number])
      end += 1;
    for (let i = start; i < end; i += 1) ranks[order[i] as number] = (start + end - 1) / 2;
    start = end;
  }
  return ranks;
}

function correlation(a: Float64Array, b: Float64Array): number {
  const n = a.length;
  const [meanA, meanB] = [sumOf(a) / n, sumOf(b) / n];
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < n; i += 1) {
    const [x, y] = [(a[i] as number) - meanA, (b[i] as number) - meanB];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / Math.sqrt(aa * bb);
}

function sumOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0);
}
