import type { Numbers } from "../math/rows.ts";
import { drawHypergeometric, seededRandom } from "../math/random.ts";
import { binomialAtMost, chiSquareCut } from "../math/special-functions.ts";
import { quantileOf } from "./corp-curve.ts";

/** The rows of two samples at each value that either has, in ascending order. */
interface Tally {
  readonly a: Float64Array;
  readonly b: Float64Array;
}

function tally(a: Numbers, b: Numbers): Tally {
  const counts = new Map<number, [number, number]>();
  for (const [side, values] of [a, b].entries()) {
    for (let i = 0; i < values.length; i += 1) {
      const pair = counts.get(values[i] as number) ?? [0, 0];
      pair[side as 0 | 1] += 1;
      counts.set(values[i] as number, pair);
    }
  }
  const sorted = [...counts].toSorted(([one], [other]) => one - other);
  return {
    a: Float64Array.from(sorted, ([, [count]]) => count),
    b: Float64Array.from(sorted, ([, [, count]]) => count),
  };
}

function sumOf(counts: Float64Array): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function distanceOf({ a, b }: Tally): number {
  const [allA, allB] = [sumOf(a), sumOf(b)];
  let [belowA, belowB, distance] = [0, 0, 0];
  for (let i = 0; i < a.length; i += 1) {
    belowA += a[i] as number;
    belowB += b[i] as number;
    distance = Math.max(distance, Math.abs(belowA / allA - belowB / allB));
  }
  return distance;
}

const PERMUTATIONS = 999;

/**
 * Returns the largest distance between the cumulated distributions of two samples, and how often it is
 * as large if their rows are mixed at random: printed values have many ties, for which the textbook p
 * value is wrong.
 */
export function kolmogorovSmirnovTest(
  a: Numbers,
  b: Numbers,
  seed: number,
): { distance: number; pValue: number } {
  const counts = tally(a, b);
  const distance = distanceOf(counts);
  const random = seededRandom(seed);
  const all = counts.a.map((count, index) => count + (counts.b[index] as number));
  let asFar = 1;
  for (let round = 0; round < PERMUTATIONS; round += 1) {
    let [leftA, left] = [a.length, a.length + b.length];
    const mixed = all.map((count) => {
      const urn = { first: count, second: left - count, draws: leftA };
      const drawn = drawHypergeometric(urn, random);
      left -= count;
      leftA -= drawn;
      return drawn;
    });
    const other = all.map((count, index) => count - (mixed[index] as number));
    if (distanceOf({ a: mixed, b: other }) >= distance - 1e-12) asFar += 1;
  }
  return { distance, pValue: asFar / (PERMUTATIONS + 1) };
}

// Answers that did not change are called changed in one of twenty comparisons.
const BY_CHANCE = 0.05;
// A share of 0 would make the index infinite.
const LEAST_SHARE = 1e-4;

/** The population stability index of two samples, and its upper limit by chance if nothing changed. */
export interface StabilityTest {
  readonly index: number;
  readonly cut: number;
}

/** Returns the stability index over the first sample's deciles, which keep equal values together. */
export function stabilityTest(before: Numbers, after: Numbers): StabilityTest {
  const counts = tally(before, after);
  const [allBefore, allAfter] = [before.length, after.length];
  let [inBefore, inAfter, filled, bins, index] = [0, 0, 0, 0, 0];
  for (let i = 0; i < counts.a.length; i += 1) {
    inBefore += counts.a[i] as number;
    inAfter += counts.b[i] as number;
    filled += counts.a[i] as number;
    if (filled < ((bins + 1) * allBefore) / 10 && i < counts.a.length - 1) continue;
    const expected = Math.max(inBefore / allBefore, LEAST_SHARE);
    const actual = Math.max(inAfter / allAfter, LEAST_SHARE);
    index += (actual - expected) * Math.log(actual / expected);
    bins += 1;
    [inBefore, inAfter] = [0, 0];
  }
  const degrees = Math.max(1, bins - 1);
  return { index, cut: chiSquareCut(BY_CHANCE, degrees) * (1 / allBefore + 1 / allAfter) };
}

/** Returns the exact two-sided p value that two releases are right equally often (McNemar). */
export function mcnemarExact(onlyFirstRight: number, onlySecondRight: number): number {
  const fewer = Math.min(onlyFirstRight, onlySecondRight);
  return Math.min(1, 2 * binomialAtMost(fewer, onlyFirstRight + onlySecondRight, 0.5));
}

/** A mean difference of paired rows with its 95 % interval. */
export interface PairedDifference {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 1000;

/** Returns the mean of paired differences: by bootstrap up to 50,000 rows, above by 1.96 standard errors. */
export function pairedDifference(differences: Numbers, seed: number): PairedDifference {
  // Sorted, so that the result does not depend on the order of the rows.
  const sorted = Float64Array.from(differences).toSorted();
  const n = sorted.length;
  const mean = sorted.reduce((sum, value) => sum + value, 0) / n;
  if (n > 50_000) {
    const variance = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
    const half = 1.96 * Math.sqrt(variance / n);
    return { mean, low: mean - half, high: mean + half };
  }
  const random = seededRandom(seed);
  const means = new Float64Array(RESAMPLES).map(() => {
    let sum = 0;
    for (let i = 0; i < n; i += 1) sum += sorted[Math.floor(random() * n)] as number;
    return sum / n;
  });
  means.sort();
  return { mean, low: quantileOf(means, 0.025), high: quantileOf(means, 0.975) };
}

/** Returns p values adjusted for their number (Holm), in the same order. */
export function holm(pValues: readonly number[]): number[] {
  const order = [...pValues.keys()].toSorted(
    (one, other) => (pValues[one] as number) - (pValues[other] as number),
  );
  const adjusted = pValues.map(() => 0);
  let highest = 0;
  for (const [rank, index] of order.entries()) {
    highest = Math.max(highest, Math.min(1, (pValues[index] as number) * (order.length - rank)));
    adjusted[index] = highest;
  }
  return adjusted;
}
