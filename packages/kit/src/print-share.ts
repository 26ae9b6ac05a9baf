/**
 * Prints an upper limit of a share in per cent, such as a promised risk, with up to four decimals: `5 %`. What is
 * left is rounded up, so that the sentence never claims more than was shown.
 */
export function printAtMost(share: number): string {
  return `${Math.ceil(1e6 * share - ROUNDING) / 1e4} %`;
}

/** Prints a lower limit of a share in per cent, such as a confidence, with up to four decimals, rounded down. */
export function printAtLeast(share: number): string {
  return `${Math.floor(1e6 * share + ROUNDING) / 1e4} %`;
}

interface Range {
  readonly low: number;
  readonly high: number;
}

/** A share with its interval, which are printed with the same decimals. */
interface Estimate extends Range {
  readonly value: number;
}

/**
 * Prints an estimated share in per cent; a dash for none, and `< 1 %` and `> 99 %` for what is not all. An estimate with an interval
 * has as many decimals as tell it from the ends: "1.7 % (1.3 % to 2.0 %)", not "2 % (1 % to 2 %)".
 */
export function percent(estimate: number | Estimate, leastDecimals = 0): string {
  if (typeof estimate === "number") return printShare(estimate, leastDecimals);
  return printShare(estimate.value, countDecimals(estimate, leastDecimals));
}

function printShare(share: number, decimals: number): string {
  if (Number.isNaN(share)) return "–";
  const [decimalScale, numberFormat] = [10 ** decimals, { minimumFractionDigits: decimals }];
  const printedValue = withoutMinusZero(Math.round(100 * decimalScale * share) / decimalScale);
  if (share > 0 && printedValue === 0) return `< ${1 / decimalScale} %`;
  if (share < 1 && printedValue === 100) return `> ${100 - 1 / decimalScale} %`;
  return `${printedValue.toLocaleString("en", numberFormat)} %`;
}

/** Prints an interval of shares in per cent, rounded to the outside; that of an estimate with the decimals of {@link percent}. */
export function percentRange(range: Range | Estimate, leastDecimals = 0): string {
  if (Number.isNaN(range.low) || Number.isNaN(range.high)) return "– to –";
  const decimals = "value" in range ? countDecimals(range, leastDecimals) : leastDecimals;
  return printPercents(range, decimals);
}

function printPercents({ low, high }: Range, decimals: number): string {
  return printRange({ low: 100 * low, high: 100 * high }, { decimals, unit: " %" });
}

/** Returns the fewest decimals, at most two, that print an estimate unlike an end of its interval that differs. */
function countDecimals(estimate: Estimate, decimals: number): number {
  const { value, low, high } = estimate;
  const printedEnds = printPercents(estimate, decimals).split(" to ");
  const isAlike = [low, high].some(
    (end, at) =>
      printShare(value, decimals) === printedEnds[at] && Math.abs(value - end) > ROUNDING,
  );
  return isAlike && decimals < 2 ? countDecimals(estimate, decimals + 1) : decimals;
}

/** Prints an interval, rounded to the outside. */
export function printRange({ low, high }: Range, { decimals = 2, unit = "" } = {}): string {
  const decimalScale = 10 ** decimals;
  const roundedEnds = [
    Math.floor(decimalScale * low + ROUNDING),
    Math.ceil(decimalScale * high - ROUNDING),
  ];
  const printedEnds = roundedEnds.map(
    (roundedEnd) => withoutMinusZero(roundedEnd / decimalScale).toFixed(decimals) + unit,
  );
  return printedEnds.join(" to ");
}

/** Prints a value with two decimals, rounded down, such as a score of which more is better; a dash for none. */
export function printDown(value: number): string {
  if (Number.isNaN(value)) return "–";
  return (Math.floor(100 * value + ROUNDING) / 100).toFixed(2);
}

/** Prints a number with its sign and four decimals, or others; of 0 it prints no sign. */
export function printSigned(value: number, decimals = 4): string {
  const absoluteText = Math.abs(value).toFixed(decimals);
  if (Number(absoluteText) === 0) return absoluteText;
  return `${value < 0 ? "−" : "+"}${absoluteText}`;
}

/** Prints a p-value with three decimals, never as 0; the least that a test of so many permutations can have as `p ≤ 0.003`. */
export function printPValue(pValue: number, leastPValue = 0): string {
  if (pValue < 0.001) return "p < 0.001";
  if (pValue > leastPValue + ROUNDING) return `p ${pValue.toFixed(3)}`;
  return `p ≤ ${(Math.ceil(1000 * pValue - ROUNDING) / 1000).toFixed(3)}`;
}

/** Prints a threshold with two decimals, or with four, rounded up: acting at the printed value is as safe. */
export function printThreshold(threshold: number): string {
  const hundredths = 100 * threshold;
  if (Math.abs(hundredths - Math.round(hundredths)) < ROUNDING) return threshold.toFixed(2);
  return (Math.ceil(1e4 * threshold - ROUNDING) / 1e4).toFixed(4);
}

/** The error of a product with a decimal fraction is far below. */
const ROUNDING = 1e-6;

function withoutMinusZero(value: number): number {
  return value + 0;
}
