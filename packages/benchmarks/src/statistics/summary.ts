import { max, median, min, quantile } from "simple-statistics";

/** What many measurements of one thing amount to. */
export interface Summary {
  readonly median: number;
  /** A quarter of the measurements is below it. */
  readonly lowerQuartile: number;
  /** A quarter of the measurements is above it. */
  readonly upperQuartile: number;
  readonly min: number;
  readonly max: number;
}

/** Sums up measurements, of which there is at least one. */
export function summarise(values: readonly number[]): Summary {
  const numbers = [...values];
  return {
    median: median(numbers),
    lowerQuartile: quantile(numbers, 0.25),
    upperQuartile: quantile(numbers, 0.75),
    min: min(numbers),
    max: max(numbers),
  };
}

/**
 * Compares two series that were measured in turns: the ratio is taken round by round, so that what
 * slowed a round down slowed both.
 */
export function compareRounds(values: readonly number[], reference: readonly number[]): Summary {
  if (values.length !== reference.length) throw new Error("The series differ in length.");
  return summarise(values.map((value, round) => value / (reference[round] ?? Number.NaN)));
}
