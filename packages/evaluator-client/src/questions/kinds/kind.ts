import * as z from "zod/mini";
import { isRecord } from "../json.ts";

// The schemas of the kinds are made in functions that are marked as pure, so that bundlers leave them
// out of a page that only builds questions: without that it has 18.8 KB more.

/** A question kind; each file of this folder has one. */
export interface KindOf<TQuestion, TAnswer> {
  readonly questionSchema: z.ZodMiniType;
  readonly answerSchema: z.ZodMiniType;
  /** How many keys a question may have, or null if it has none. */
  readonly limit: KeyLimit | null;
  /** Whether services report a confidence for its answers. */
  readonly hasConfidence: boolean;
  /** Returns the keys of the distribution: the options or the level indexes. */
  keys(question: TQuestion): readonly string[];
  /** Returns the first rule that an answer of this type breaks; `keys` are those of its question. */
  check(
    keys: readonly string[],
    answer: Readonly<Record<string, unknown>>,
    rounding: Rounding,
  ): BrokenRule | null;
  /** Returns the values that each answer to the question has; the first is the answer in short. */
  values(question: TQuestion): readonly ValueFieldOf<TAnswer>[];
  /** Returns the labels that a person may give, in the order to show them; null for none. */
  truths(question: TQuestion): readonly Truth[] | null;
}

/** How large a question may be before it is rejected without sending (field facts). */
export interface QuestionLimits {
  /** Options of a choice question. @default 255 */
  readonly maxOptions?: number;
  /** Levels of a score question. @default 10 */
  readonly maxLevels?: number;
}

/** The highest number of keys of a question, and its option in {@link QuestionLimits}. */
export interface KeyLimit {
  /** The name of one key in messages. */
  readonly unit: string;
  readonly most: number;
  readonly option: keyof QuestionLimits;
}

/** A rule that an answer breaks. */
export interface BrokenRule {
  readonly rule: string;
  /** The predicate of the message, after the question's id. */
  readonly what: string;
}

/**
 * One value that every answer to a question has. Use the form to decide how to score, print or store
 * it, so that code works for each question kind.
 */
export type ValueFieldOf<TAnswer> = {
  /** The field of the answer. */
  readonly name: string;
  /** A description for a person. */
  readonly meaning: string;
} & (
  | { readonly form: "probability"; of(this: void, answer: TAnswer): number }
  | {
      readonly form: "number";
      /** The highest value; the lowest is 0. */
      readonly most: number;
      of(this: void, answer: TAnswer): number;
    }
  | {
      readonly form: "option";
      readonly keys: readonly string[];
      of(this: void, answer: TAnswer): string;
    }
  | {
      readonly form: "distribution";
      readonly keys: readonly string[];
      /** Whether the keys go from low to high. */
      readonly isOrdered: boolean;
      of(this: void, answer: TAnswer): Readonly<Record<string, number>>;
    }
);

/** A label that a person may give instead of the model's answer. */
export interface Truth {
  readonly truth: string | number | boolean;
  readonly name: string;
  /** The criterion's text, or empty. */
  readonly description: string;
}

/** Decimal places the service rounds to (contract: 2 and 2). */
export interface Rounding {
  probabilityDecimals: number;
  scoreDecimals: number;
}

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
const outOfRange = {
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
    if (typeof probability !== "number" || !(probability >= 0 && probability <= 1)) {
      // An inherited value is no number either.
      return Object.hasOwn(probabilities, key) ? outOfRange : wrongKeys;
    }
    sum += probability;
    highest = Math.max(highest, probability);
  }
  const bound = keys.length * roundingError(probabilityDecimals) + TOLERANCE;
  return Math.abs(sum - 1) > bound ? wrongSum : highest;
}

/** Checks a single probability. */
export function checkProbability(value: unknown): typeof outOfRange | null {
  return typeof value === "number" && value >= 0 && value <= 1 ? null : outOfRange;
}

/** Returns half a unit in the last printed place. */
export function roundingError(decimals: number): number {
  return 0.5 * 10 ** -decimals;
}
