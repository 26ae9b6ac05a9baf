import * as z from "zod/mini";
import { isRecord } from "../json.ts";
import type { Rounding } from "./kind.ts";

/** Returns the schema of a probability. */
export function probability() {
  return z.number().check(z.minimum(0), z.maximum(1));
}

/** Allowance for floating point. Chosen: far above what sums lose, far below a printed decimal. */
export const TOLERANCE = 1e-6;

const wrongKeys = {
  rule: "probabilities-keys",
  what: "does not have one probability for every option or level",
} as const;
const wrongSum = {
  rule: "probabilities-sum",
  what: "has probabilities that do not sum to 1 within rounding",
} as const;
/** The rule for a single probability. */
export const outOfRange = {
  rule: "probabilities-range",
  what: "has a probability that is not a number from 0 to 1",
} as const;

/**
 * Checks in one pass that probabilities are a distribution over the keys. Returns the highest of
 * them, or the rule that they break.
 */
export function checkDistribution(
  keys: readonly string[],
  probabilities: unknown,
  { probabilityDecimals }: Rounding,
) {
  if (!isRecord(probabilities) || Object.keys(probabilities).length !== keys.length) {
    return wrongKeys;
  }
  let sum = 0;
  let highest = 0;
  for (const key of keys) {
    const probability = probabilities[key];
    if (!isProbability(probability)) {
      // An inherited value is no number either.
      return Object.hasOwn(probabilities, key) ? outOfRange : wrongKeys;
    }
    sum += probability;
    highest = Math.max(highest, probability);
  }
  const bound = keys.length * roundingError(probabilityDecimals) + TOLERANCE;
  return Math.abs(sum - 1) > bound ? wrongSum : highest;
}

/** Returns whether a value is a number from 0 to 1. */
export function isProbability(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= 1;
}

/** Returns half a unit in the last printed place. */
export function roundingError(decimals: number): number {
  return 0.5 * 10 ** -decimals;
}
