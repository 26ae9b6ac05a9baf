import { checkLengths, type Numbers } from "../check-rows.ts";
import { DEFAULT_SEED, drawHypergeometric, seededRandom } from "../math/random.ts";
import { chiSquareCut } from "../math/special-functions.ts";

/** Returns the largest distance between two cumulated distributions (Kolmogorov–Smirnov). */
export function kolmogorovSmirnov(a: Numbers, b: Numbers): number {
  return distanceOf(tally(a, b));
}

/** Two samples counted at each value either has, in ascending order. */
interface Tally {
  readonly a: Float64Array;
  readonly b: Float64Array;
}

function tally(a: Numbers, b: Numbers): Tally {
  if (a.length === 0 || b.length === 0) {
    throw new RangeError(`${a.length === 0 ? "a" : "b"} is empty; it needs at least one value.`);
  }
  const counts = new Map<number, [number, number]>();
  for (const [side, values] of [a, b].entries()) {
    for (let i = 0; i < values.length; i += 1) {
      const value = values[i] as number;
      if (!Number.isFinite(value)) {
        throw new RangeError(`${side === 0 ? "a" : "b"}[${i}] is ${value}; it must be a number.`);
      }
      const pair = counts.get(value) ?? [0, 0];
      pair[side as 0 | 1] += 1;
      counts.set(value, pair);
    }
  }
  const sorted = [...counts].toSorted(([one], [other]) => one - other);
  return {
    a: Float64Array.from(sorted, ([, [count]]) => count),
    b: Float64Array.from(sorted, ([, [, count]]) => count),
  };
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

/**
 * Returns the distance of two samples and how often it is as large when their rows are mixed at
 * random: printed values have many ties, for which the textbook p value is wrong.
 */
export function kolmogorovSmirnovTest(
  a: Numbers,
  b: Numbers,
  { permutations = 999, seed = DEFAULT_SEED }: { permutations?: number; seed?: number } = {},
): { distance: number; pValue: number } {
  const counts = tally(a, b);
  const distance = distanceOf(counts);
  const random = seededRandom(seed);
  const all = counts.a.map((count, index) => count + (counts.b[index] as number));
  let asFar = 1;
  for (let round = 0; round < permutations; round += 1) {
    let [leftA, left] = [a.length, a.length + b.length];
    const mixed = all.map((count) => {
      const drawn = drawHypergeometric(
        { first: count, second: left - count, draws: leftA },
        random,
      );
      left -= count;
      leftA -= drawn;
      return drawn;
    });
    const other = all.map((count, index) => count - (mixed[index] as number));
    if (distanceOf({ a: mixed, b: other }) >= distance - 1e-12) asFar += 1;
  }
  return { distance, pValue: asFar / (permutations + 1) };
}

// Answers that did not change are called changed in one of twenty comparisons.
const BY_CHANCE = 0.05;
// A share of 0 would make the index infinite.
const LEAST_SHARE = 1e-4;

/** Returns the population stability index of two lists of shares; a share below 0.0001 counts as that. */
export function populationStabilityIndex(expected: Numbers, actual: Numbers): number {
  checkLengths(["expected", expected], ["actual", actual]);
  let index = 0;
  for (let i = 0; i < expected.length; i += 1) {
    const [before, after] = [shareAt("expected", expected, i), shareAt("actual", actual, i)];
    index += (after - before) * Math.log(after / before);
  }
  return index;
}

function shareAt(name: string, shares: Numbers, index: number): number {
  const share = shares[index] as number;
  if (!(share >= 0 && share <= 1)) {
    throw new RangeError(`${name}[${index}] is ${share}; it must be a share from 0 to 1.`);
  }
  return Math.max(share, LEAST_SHARE);
}

/** What the index of two samples comes to, and what it stays below by chance when nothing changed. */
export interface StabilityTest {
  readonly index: number;
  readonly cut: number;
}

/** Returns the stability index over the first sample's deciles, which never part equal values. */
export function stabilityTest(before: Numbers, after: Numbers): StabilityTest {
  const counts = tally(before, after);
  const [allBefore, allAfter] = [before.length, after.length];
  const bins: { before: number; after: number }[] = [];
  let [inBefore, inAfter, filled] = [0, 0, 0];
  for (let i = 0; i < counts.a.length; i += 1) {
    inBefore += counts.a[i] as number;
    inAfter += counts.b[i] as number;
    filled += counts.a[i] as number;
    if (filled < ((bins.length + 1) * allBefore) / 10 && i < counts.a.length - 1) continue;
    bins.push({ before: inBefore / allBefore, after: inAfter / allAfter });
    [inBefore, inAfter] = [0, 0];
  }
  const index = populationStabilityIndex(
    bins.map((bin) => Math.min(1, bin.before)),
    bins.map((bin) => Math.min(1, bin.after)),
  );
  const degrees = Math.max(1, bins.length - 1);
  return { index, cut: chiSquareCut(BY_CHANCE, degrees) * (1 / allBefore + 1 / allAfter) };
}

function sumOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0);
}
