import type { Numbers } from "../check-rows.ts";
import { DEFAULT_SEED, seededRandom } from "../math/random.ts";
import { binomialAtMost } from "../math/special-functions.ts";
import { quantileOf } from "./corp-curve.ts";

/** Returns the exact two-sided p value that two releases are right equally often (McNemar). */
export function mcnemarExact(onlyFirstRight: number, onlySecondRight: number): number {
  for (const [name, count] of Object.entries({ onlyFirstRight, onlySecondRight })) {
    if (!(Number.isInteger(count) && count >= 0)) {
      throw new RangeError(`${name} is ${count}; it must be a count.`);
    }
  }
  const fewer = Math.min(onlyFirstRight, onlySecondRight);
  return Math.min(1, 2 * binomialAtMost(fewer, onlyFirstRight + onlySecondRight, 0.5));
}

/** Returns p values adjusted for being many (Holm), in the order they came. */
export function holm(pValues: Numbers): number[] {
  const order = Array.from({ length: pValues.length }, (_, index) => index).toSorted(
    (one, other) => (pValues[one] as number) - (pValues[other] as number),
  );
  const adjusted = Array.from({ length: pValues.length }, () => 0);
  let highest = 0;
  for (const [rank, index] of order.entries()) {
    const pValue = pValues[index] as number;
    if (!(pValue >= 0 && pValue <= 1)) {
      throw new RangeError(`pValues[${index}] is ${pValue}; it must be a number from 0 to 1.`);
    }
    highest = Math.max(highest, Math.min(1, pValue * (order.length - rank)));
    adjusted[index] = highest;
  }
  return adjusted;
}

/** A mean difference of paired rows with its 95 % interval. */
export interface PairedDifference {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** Returns the mean of paired differences: by bootstrap up to 50,000 rows, above by 1.96 standard errors. */
export function pairedDifference(
  differences: Numbers,
  { seed = DEFAULT_SEED, resamples = 1000 }: { seed?: number; resamples?: number } = {},
): PairedDifference {
  // Sorted, so that nothing hangs on the order of the rows.
  const sorted = Float64Array.from(differences).toSorted();
  const n = sorted.length;
  const mean = sorted.reduce((sum, value) => sum + value, 0) / n;
  if (n > 50_000) {
    const variance = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
    const half = 1.96 * Math.sqrt(variance / n);
    return { mean, low: mean - half, high: mean + half };
  }
  const random = seededRandom(seed);
  const means = new Float64Array(resamples).map(() => {
    let sum = 0;
    for (let i = 0; i < n; i += 1) sum += sorted[Math.floor(random() * n)] as number;
    return sum / n;
  });
  means.sort();
  return { mean, low: quantileOf(means, 0.025), high: quantileOf(means, 0.975) };
}
