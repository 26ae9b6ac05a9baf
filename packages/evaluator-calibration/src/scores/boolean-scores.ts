import { checkRows, type Numbers, type Weighted, weightedMean } from "../check-rows.ts";
import { twoSidedP } from "../math/special-functions.ts";

/** Half of what the service prints: a printed 0 is anything below it. */
export const HALF_A_PRINTED_UNIT = 0.005;

/** Options of the log loss. */
export interface LogLossOptions extends Weighted {
  /** The true side is taken to have at least this probability, and at most one less it. @default 0.005 */
  readonly clip?: number;
}

/** A log loss, and how many rows of it were clipped. */
export interface LogLoss {
  /** In nats a row. */
  readonly value: number;
  /** Rows printed as (nearly) certain, right or wrong. */
  readonly clipped: number;
  /** Clipped rows whose true side was printed as (nearly) impossible. */
  readonly clippedAndWrong: number;
}

/** Returns the mean squared distance of probability and truth, 0 to 1. */
export function brierScore(p: Numbers, truth: Numbers, { weights }: Weighted = {}): number {
  checkRows(p, truth, { weights });
  return weightedMean(p.length, weights, (i) => ((p[i] as number) - (truth[i] as number)) ** 2);
}

/** Returns how far from always giving the base rate (0) to knowing (1); NaN when all rows have one truth. */
export function brierSkill(p: Numbers, truth: Numbers, { weights }: Weighted = {}): number {
  const brier = brierScore(p, truth, { weights });
  const rate = weightedMean(p.length, weights, (i) => truth[i] as number);
  return rate === 0 || rate === 1 ? Number.NaN : 1 - brier / (rate * (1 - rate));
}

/**
 * Returns the mean of −ln of the true side's probability, clipped at half a printed unit.
 *
 * A printed 1 is anything from 0.995: on simulated answers this clip costs about 0.1 % against the
 * unrounded log loss, one at 1e-15 more than ten times as much.
 */
export function logLoss(
  p: Numbers,
  truth: Numbers,
  { clip = HALF_A_PRINTED_UNIT, weights }: LogLossOptions = {},
): LogLoss {
  checkRows(p, truth, { weights });
  const trueSide = (i: number) => (truth[i] === 1 ? (p[i] as number) : 1 - (p[i] as number));
  return clippedLogLoss(p.length, trueSide, { clip, weights });
}

/** Returns the log loss of rows of which the true side's probability is known. */
export function clippedLogLoss(
  length: number,
  trueSide: (index: number) => number,
  { clip = HALF_A_PRINTED_UNIT, weights }: LogLossOptions,
): LogLoss {
  let [clipped, clippedAndWrong] = [0, 0];
  const value = weightedMean(length, weights, (i) => {
    const probability = trueSide(i);
    if (probability < clip) clippedAndWrong += 1;
    if (probability < clip || probability > 1 - clip) clipped += 1;
    return -Math.log(Math.min(Math.max(probability, clip), 1 - clip));
  });
  return { value, clipped, clippedAndWrong };
}

/**
 * Returns Spiegelhalter's test that the probabilities are calibrated: z above 0 means that they are too
 * extreme (too far from the base rate), z below 0 that they are not extreme enough.
 */
export function spiegelhalter(p: Numbers, truth: Numbers): { z: number; pValue: number } {
  checkRows(p, truth);
  let [distance, variance] = [0, 0];
  for (let i = 0; i < p.length; i += 1) {
    const probability = p[i] as number;
    const slope = 1 - 2 * probability;
    distance += ((truth[i] as number) - probability) * slope;
    variance += slope ** 2 * probability * (1 - probability);
  }
  const z = distance === 0 ? 0 : distance / Math.sqrt(variance);
  return { z, pValue: twoSidedP(z) };
}
