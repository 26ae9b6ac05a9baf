import { betaQuantile, binomialAtMost, normalQuantile } from "../math/special-functions.ts";

/** An interval of a share. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** How sure an interval is. */
export interface IntervalOptions {
  /** @default 0.95 */
  readonly confidence?: number;
}

/** Returns the exact (Clopper–Pearson) interval of a share of which `wrong` of `n` were seen. */
export function clopperPearson(
  wrong: number,
  n: number,
  { confidence = 0.95 }: IntervalOptions = {},
): Interval {
  checkCounts(wrong, n);
  checkShare("confidence", confidence);
  const tail = (1 - confidence) / 2;
  return {
    low: wrong === 0 ? 0 : betaQuantile(tail, wrong, n - wrong + 1),
    high: wrong >= n ? 1 : betaQuantile(1 - tail, wrong + 1, n - wrong),
  };
}

/** Returns the Wilson score interval of a share of which `wrong` of `n` were seen. */
export function wilson(
  wrong: number,
  n: number,
  { confidence = 0.95 }: IntervalOptions = {},
): Interval {
  checkCounts(wrong, n);
  checkShare("confidence", confidence);
  if (n === 0) return { low: 0, high: 1 };
  const z = normalQuantile((1 + confidence) / 2);
  const share = wrong / n;
  const center = share + z ** 2 / (2 * n);
  const half = z * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2));
  const scale = 1 + z ** 2 / n;
  return {
    low: wrong === 0 ? 0 : (center - half) / scale,
    high: wrong === n ? 1 : (center + half) / scale,
  };
}

/** What is promised: at most this share wrong, with this confidence. */
export interface Bound {
  readonly maxRisk: number;
  /** @default 0.95 */
  readonly confidence?: number;
}

/** Returns how many labels without one error it takes to promise a risk. */
export function labelsForZeroErrors({ maxRisk, confidence = 0.95 }: Bound): number {
  checkShare("maxRisk", maxRisk);
  checkShare("confidence", confidence);
  return Math.ceil(Math.log(1 - confidence) / Math.log1p(-maxRisk) - 1e-9);
}

/** Returns how many acted-on labels give a chance of `power` that a risk can be promised, when the true one is `rate`. */
export function labelsForBound({
  rate,
  maxRisk,
  confidence = 0.95,
  power = 0.8,
}: Bound & { readonly rate: number; readonly power?: number }): number {
  checkShare("maxRisk", maxRisk);
  checkShare("confidence", confidence);
  checkShare("power", power);
  if (!(rate >= 0 && rate < maxRisk)) {
    throw new RangeError(`rate is ${rate}; it must be at least 0 and below maxRisk, ${maxRisk}.`);
  }
  // The most errors that still pass: the least n of each count of errors is what has to be tried.
  for (let wrong = 0; ; wrong += 1) {
    const n = labelsForErrors(wrong, maxRisk, confidence);
    if (binomialAtMost(wrong, n, rate) >= power) return n;
  }
}

/** Returns how many labels it takes to promise a risk when so many of them are wrong. */
function labelsForErrors(wrong: number, maxRisk: number, confidence: number): number {
  let [low, high] = [wrong, wrong + 1];
  const passes = (n: number) => binomialAtMost(wrong, n, maxRisk) <= 1 - confidence;
  while (!passes(high)) high *= 2;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (passes(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** Returns the smallest risk that can be promised when `wrong` of `n` acted-on labels are wrong. */
export function smallestPromise(wrong: number, n: number, confidence = 0.95): number {
  return wrong >= n ? 1 : 1 - betaQuantile(1 - confidence, n - wrong, wrong + 1);
}

/** Returns how many labels give a share to plus or minus `halfWidth` at 95 %, whatever the share is. */
export function labelsForWidth({ halfWidth }: { readonly halfWidth: number }): number {
  checkShare("halfWidth", halfWidth);
  return Math.ceil((normalQuantile(0.975) / (2 * halfWidth)) ** 2);
}

/**
 * Checks a share.
 *
 * @throws RangeError when it is not above 0 and below 1.
 */
export function checkShare(name: string, share: number): void {
  if (!(share > 0 && share < 1)) {
    throw new RangeError(`${name} is ${share}; it must be above 0 and below 1.`);
  }
}

function checkCounts(wrong: number, n: number): void {
  // Weighted rows have broken counts.
  if (!(n >= 0 && n < Infinity)) throw new RangeError(`n is ${n}; it must be a count.`);
  if (!(wrong >= 0 && wrong <= n)) {
    throw new RangeError(`wrong is ${wrong}; it must be a count from 0 to n, ${n}.`);
  }
}
