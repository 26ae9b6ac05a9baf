/**
 * The error of Stirling's formula for ln n!; n is positive, whole or not.
 *
 * Loader's saddle-point form keeps full precision where differences of log-gammas lose it.
 */
function stirlingError(n: number): number {
  const isSmall = n < smallErrors.length && Number.isInteger(n);
  return isSmall ? (smallErrors[n] as number) : computeStirlingError(n);
}

function computeStirlingError(n: number): number {
  let shiftedValue = n;
  let correction = 0;
  for (; shiftedValue < 16; shiftedValue += 1) {
    correction += (shiftedValue + 0.5) * Math.log1p(1 / shiftedValue) - 1;
  }
  const s = 1 / (shiftedValue * shiftedValue);
  const series = 1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188))));
  return correction + series / shiftedValue;
}

/** Those that take a loop, of whole numbers: a comparison of releases needs them a million times. */
const smallErrors = Array.from({ length: 16 }, (_, n) => computeStirlingError(n));

/** x ln(x / mean) + mean − x without cancellation. */
function deviance(x: number, mean: number): number {
  if (Math.abs(x - mean) >= 0.1 * (x + mean)) return x * Math.log(x / mean) + mean - x;
  const v = (x - mean) / (x + mean);
  let sum = (x - mean) * v;
  let term = 2 * x * v;
  for (let j = 1; j < 1000; j += 1) {
    term *= v * v;
    const next = sum + term / (2 * j + 1);
    if (next === sum) break;
    sum = next;
  }
  return sum;
}

/** Returns the binomial probability of `x` of `n`, neither of which has to be whole. */
export function binomialProbability(x: number, n: number, p: number): number {
  if (x === 0) return Math.exp(n * Math.log1p(-p));
  if (x === n) return Math.exp(n * Math.log(p));
  const y = n - x;
  const log =
    stirlingError(n) -
    stirlingError(x) -
    stirlingError(y) -
    deviance(x, n * p) -
    deviance(y, n * (1 - p));
  return Math.exp(log) * Math.sqrt(n / (2 * Math.PI * x * y));
}

const TINY_NUMBER = 1e-300;

/** Sums a continued fraction by Lentz's method, from the numerator and the denominator of step i. */
function continuedFraction(
  start: number,
  numerator: (i: number) => number,
  denominator: (i: number) => number,
): number {
  let f = start;
  let c = f;
  let d = 0;
  // The incomplete beta takes about the root of its parameters in steps: 10,000 do for 1e8 rows.
  for (let i = 1; i < 100_000; i += 1) {
    const a = numerator(i);
    const b = denominator(i);
    d = b + a * d;
    if (d === 0) d = TINY_NUMBER;
    c = b + a / c;
    if (c === 0) c = TINY_NUMBER;
    d = 1 / d;
    const factor = c * d;
    f *= factor;
    if (Math.abs(factor - 1) < 1e-16) break;
  }
  return f;
}

/** Returns the regularized incomplete beta function I_x(a, b), precise far into its lower tail. */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x * (b + 1) > (1 - x) * (a + 1)) return 1 - incompleteBeta(1 - x, b, a);
  const leadFactor = (binomialProbability(a, a + b, x) * b) / (a + b);
  const numerator = (i: number) => {
    const m = i >> 1;
    return i % 2 === 0
      ? (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
      : (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
  };
  const fraction = continuedFraction(1, numerator, () => 1);
  return leadFactor / fraction;
}

/** Returns the probability that a binomial count is at most `k`. */
export function binomialAtMost(k: number, n: number, p: number): number {
  if (k < 0) return 0;
  return k >= n ? 1 : incompleteBeta(1 - p, n - k, k + 1);
}

/** Returns the x in [low, high] at which an increasing function reaches a target, to the last bits. */
export function solveIncreasing(
  increasing: (argument: number) => number,
  target: number,
  [lowest, highest]: readonly [number, number],
): number {
  let lowerLimit = lowest;
  let upperLimit = highest;
  for (let iteration = 0; iteration < 2000; iteration += 1) {
    const midpoint = lowerLimit + (upperLimit - lowerLimit) / 2;
    if (midpoint <= lowerLimit || midpoint >= upperLimit) break;
    if (increasing(midpoint) < target) lowerLimit = midpoint;
    else upperLimit = midpoint;
  }
  return upperLimit;
}

/** Returns the x at which I_x(a, b) is `share`. */
export function betaQuantile(share: number, a: number, b: number): number {
  return solveIncreasing((x) => incompleteBeta(x, a, b), share, [0, 1]);
}

/** A standard normal value is between −z and z with a probability of 95 %. */
export const Z_OF_95 = 1.959963984540054;

/** Returns the two-sided probability of a standard normal value at least as far out as `z`. */
export function twoSidedP(z: number): number {
  return chiSquareAbove(z * z, 1);
}

/** Returns the probability that a chi-square value is above `x`. */
function chiSquareAbove(x: number, degrees: number): number {
  const [a, halfValue] = [degrees / 2, x / 2];
  if (halfValue <= 0) return 1;
  const leadFactor =
    Math.exp(-stirlingError(a) - deviance(a, halfValue)) / Math.sqrt(2 * Math.PI * a);
  if (halfValue >= a + 1) {
    const fraction = continuedFraction(
      halfValue + 1 - a,
      (i) => i * (a - i),
      (i) => halfValue + 2 * i + 1 - a,
    );
    return (leadFactor * a) / fraction;
  }
  let term = 1;
  let sum = 1;
  for (let i = 1; term > 1e-17 * sum; i += 1) {
    term *= halfValue / (a + i);
    sum += term;
  }
  return 1 - leadFactor * sum;
}

/** Returns the value that a chi-square value exceeds with probability `share`. */
export function chiSquareCut(share: number, degrees: number): number {
  const upperLimit = degrees + 20 * Math.sqrt(2 * degrees) + 2000;
  return solveIncreasing((x) => -chiSquareAbove(x, degrees), -share, [0, upperLimit]);
}
