import { twoSidedP } from "evaluator-calibration/statistics";

/** Worlds of two values that pass at 2.5 % although their mean is 0: with none 16 %, one 4.8 %, two 2.4 %. */
const WORST_VALUES = 2;

/**
 * Returns the probability of so high a mean if the true one were 0 or lower: a t-test that also counts
 * the worst possible value, twice. Without it, a rare loss that no row shows would not count.
 */
export function pOfMean(values: readonly number[], worst: number): number {
  const all = [...values, ...Array.from({ length: WORST_VALUES }, () => worst)];
  const freedom = all.length - 1;
  const mean = all.reduce((sum, value) => sum + value, 0) / all.length;
  const squares = all.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  if (!(mean > 0)) return 1;
  const t = mean / Math.sqrt(squares / freedom / all.length);
  // The normal value of about the same probability.
  const z = (t * (1 - 1 / (4 * freedom))) / Math.sqrt(1 + t ** 2 / (2 * freedom));
  return twoSidedP(z) / 2;
}

/** Returns the highest of 100 % to 1 % that passes, as a share; 0 if none does. */
export function highestShare(passes: (share: number) => boolean): number {
  return Array.from({ length: 100 }, (_, at) => (100 - at) / 100).find(passes) ?? 0;
}
