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

/** Prints an estimated share in per cent; a dash for none, and `< 1 %` and `> 99 %` for what is not all. */
export function percent(share: number, decimals = 0): string {
  if (Number.isNaN(share)) return "–";
  const [decimalScale, numberFormat] = [10 ** decimals, { minimumFractionDigits: decimals }];
  const printedValue = withoutMinusZero(Math.round(100 * decimalScale * share) / decimalScale);
  if (share > 0 && printedValue === 0) return `< ${1 / decimalScale} %`;
  if (share < 1 && printedValue === 100) return `> ${100 - 1 / decimalScale} %`;
  return `${printedValue.toLocaleString("en", numberFormat)} %`;
}

interface Range {
  readonly low: number;
  readonly high: number;
}

/** Prints an interval of shares in per cent, rounded to the outside. */
export function percentRange({ low, high }: Range, decimals = 0): string {
  if (Number.isNaN(low) || Number.isNaN(high)) return "– to –";
  return printRange({ low: 100 * low, high: 100 * high }, { decimals, unit: " %" });
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

/** Prints a p-value with three decimals, never as 0. */
export function printPValue(pValue: number): string {
  return pValue < 0.001 ? "p < 0.001" : `p ${pValue.toFixed(3)}`;
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
