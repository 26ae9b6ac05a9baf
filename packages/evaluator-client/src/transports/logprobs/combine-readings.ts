import type { LabelReading } from "./read-labels.ts";
import type { Reading } from "./question-plan.ts";

/** What several readings of the same options say together. */
export interface Distribution {
  /** Probability of each option, by its position; their sum is 1. */
  readonly probabilities: readonly number[];
  /** Whether the readings disagreed about the likeliest option. */
  readonly flips: boolean;
}

/**
 * Returns the normalised geometric mean of readings: what a label multiplies to its option's
 * probability in one reading, it multiplies to another option's in the next, and so it cancels.
 */
export function combineReadings(
  read: readonly { readonly reading: Reading; readonly labels: LabelReading }[],
): Distribution {
  const byOption = read.map(({ reading, labels }) => {
    const weights = Array.from<number>({ length: reading.optionOf.length });
    for (const [label, option] of reading.optionOf.entries()) {
      weights[option] = labels.logWeights[label] as number;
    }
    return weights;
  });
  const [first = []] = byOption;
  // The normalisation of each reading is the same for all its options, so it cancels as well.
  const means = first.map((_, option) => {
    return byOption.reduce((sum, weights) => sum + (weights[option] as number), 0) / read.length;
  });
  const winners = byOption.map(indexOfHighest);
  return { probabilities: softmax(means), flips: new Set(winners).size > 1 };
}

/** Returns the position of the highest value; of equal ones, the first. */
export function indexOfHighest(values: readonly number[]): number {
  return values.indexOf(Math.max(...values));
}

function softmax(logWeights: readonly number[]): number[] {
  const highest = Math.max(...logWeights);
  const weights = logWeights.map((weight) => Math.exp(weight - highest));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}
