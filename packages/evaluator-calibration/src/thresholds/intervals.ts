import { rejectValue } from "../math/rows.ts";
import {
  betaQuantile,
  binomialAtMost,
  solveIncreasing,
  Z_OF_95,
} from "../math/special-functions.ts";

/** An interval of a share. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Returns the exact (Clopper–Pearson) 95 % interval of a share of which `wrong` of `n` were seen. */
export function clopperPearson(wrong: number, n: number): Interval {
  return exactLimits(wrong, n, (1 - 0.95) / 2);
}

/** Returns the exact limits of a share, each of which is missed with a probability of at most `level`. */
export function exactLimits(wrong: number, n: number, level: number): Interval {
  checkCounts(wrong, n);
  return {
    low: wrong === 0 ? 0 : betaQuantile(level, wrong, n - wrong + 1),
    high: wrong >= n ? 1 : betaQuantile(1 - level, wrong + 1, n - wrong),
  };
}

/**
 * Returns the 95 % Wilson score interval of a share of which `wrong` of `n` were seen. It is narrower than the exact one, and
 * holds in only 84 % if about 0.2 wrong ones are expected; the reports print {@link clopperPearson}.
 *
 * @example wilson(3, 40) // { low: 0.026, high: 0.199 }
 */
export function wilson(wrong: number, n: number): Interval {
  checkCounts(wrong, n);
  if (n === 0) return { low: 0, high: 1 };
  const z = Z_OF_95;
  const wrongShare = wrong / n;
  const center = wrongShare + z ** 2 / (2 * n);
  const halfWidth = z * Math.sqrt((wrongShare * (1 - wrongShare)) / n + z ** 2 / (4 * n ** 2));
  const scale = 1 + z ** 2 / n;
  return {
    low: wrong === 0 ? 0 : (center - halfWidth) / scale,
    high: wrong === n ? 1 : (center + halfWidth) / scale,
  };
}

/**
 * Returns Newcombe's 95 % interval of an area under the ROC curve that was seen on `ones` and `zeros` rows of each
 * truth (Statistics in Medicine 2006, method 5). It holds also for few rows and for an area near 1.
 *
 * @example aucInterval(0.94, 25, 25) // { low: 0.85, high: 0.98 }
 */
export function aucInterval(auc: number, ones: number, zeros: number): Interval {
  if (Number.isNaN(auc)) return { low: Number.NaN, high: Number.NaN };
  const half = (ones + zeros) / 2 - 1;
  // How many standard errors a true area is below the seen one; increasing along the way from it.
  const deviationsAt = (area: number) => {
    const spreadWidth = 1 + half * ((1 - area) / (2 - area) + area / (1 + area));
    return Math.abs(auc - area) / Math.sqrt((area * (1 - area) * spreadWidth) / (ones * zeros));
  };
  const deviationsBelow = (distance: number) => deviationsAt(auc - distance);
  const deviationsAbove = (distance: number) => deviationsAt(auc + distance);
  return {
    low: auc === 0 ? 0 : auc - solveIncreasing(deviationsBelow, Z_OF_95, [0, auc]),
    high: auc === 1 ? 1 : auc + solveIncreasing(deviationsAbove, Z_OF_95, [0, 1 - auc]),
  };
}

/** A promise: at most this share wrong, with this confidence. */
export interface Bound {
  readonly maxRisk: number;
  /** @default 0.95 */
  readonly confidence?: number;
}

/**
 * Returns how many labels without one error it takes to promise a risk.
 *
 * @example labelsForZeroErrors({ maxRisk: 0.05 }) // 59
 */
export function labelsForZeroErrors({ maxRisk, confidence = 0.95 }: Bound): number {
  checkShare("maxRisk", maxRisk);
  checkShare("confidence", confidence);
  return Math.ceil(Math.log(1 - confidence) / Math.log1p(-maxRisk) - 1e-9);
}

/** Returns how many labels it takes if a report has so many actions. */
export function neededLabels({ maxRisk, confidence }: Required<Bound>, actions: number) {
  const actionLevel = (1 - confidence) / Math.max(1, actions);
  return {
    /** Acted-on labels, all right, for the requested promise. */
    forPromiseWithoutErrors: labelsForZeroErrors({ maxRisk, confidence: 1 - actionLevel }),
    /** Acted-on labels for an 80 % chance of that promise, if the true risk is 2 fifths of it. */
    forPromise: labelsForPromise(maxRisk, actionLevel),
  };
}

function labelsForPromise(maxRisk: number, level: number): number {
  for (let wrongCount = 0; ; wrongCount += 1) {
    // The smallest number of labels that promises the risk although so many of them are wrong.
    const missing = (labelCount: number) => -binomialAtMost(wrongCount, labelCount, maxRisk);
    const labelCount = Math.ceil(solveIncreasing(missing, -level, [wrongCount, 1e15]));
    if (binomialAtMost(wrongCount, labelCount, 0.4 * maxRisk) >= 0.8) return labelCount;
  }
}

/** @throws RangeError if the share is not above 0 and below 1. */
export function checkShare(valueName: string, share: number): void {
  if (!(share > 0 && share < 1)) {
    rejectValue(valueName, share, "above 0 and below 1");
  }
}

function checkCounts(wrong: number, n: number): void {
  // Counts of weighted rows are not whole.
  if (!(n >= 0 && n < Infinity)) rejectValue("n", n, "a count");
  if (!(wrong >= 0 && wrong <= n)) {
    rejectValue("wrong", wrong, `a count from 0 to n, ${n}`);
  }
}
