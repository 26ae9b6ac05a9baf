import type { Estimate, Interval } from "evaluator-calibration";

/** Returns a share in percent, with its interval. */
export function percent({ share, low, high }: Interval & { readonly share: number }): string {
  return `${whole(share)} (${whole(low)} to ${whole(high)})`;
}

/** Returns a difference of two qualities in hundredths, with its interval. */
export function points({ value, low, high }: Estimate): string {
  const [at, from, to] = [value, low, high].map((quality) => Math.round(1000 * quality) / 10 + 0); // no -0
  return `${at} points (${from} to ${to})`;
}

function whole(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}

/** Returns a figure of three digits, with its interval; a dash where there is none. */
export function figure(estimate: Estimate | null): string {
  if (estimate === null) return "–";
  return `${three(estimate.value)} (${three(estimate.low)} to ${three(estimate.high)})`;
}

function three(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}
