import type * as z from "zod/mini";

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
  /** Whether it asks about an image, which only some services take it for. @default false */
  readonly needsImage?: boolean;
  /** Returns the keys of the distribution: the options or the level indexes. */
  keys(question: TQuestion): readonly string[];
  /** Returns the first rule that an answer of this type breaks; `keys` are those of its question. */
  check(
    keys: readonly string[],
    answer: Readonly<Record<string, unknown>>,
    rounding: Rounding,
  ): BrokenRule | null;
  /** Returns the values that each answer has; the first fits into one cell: it is no distribution. */
  values(
    question: TQuestion,
  ): readonly [
    Exclude<ValueFieldOf<TAnswer>, { readonly form: "distribution" }>,
    ...ValueFieldOf<TAnswer>[],
  ];
  /** Returns the labels that a person may give, in the order to show them; null for none. */
  truths(question: TQuestion): readonly Truth[] | null;
}

/** The compiler's reason if there is nothing to choose from. */
export interface Empty {
  readonly isEmpty: "write at least one";
}

/** Any type if an object or a list has an entry, else {@link Empty}; for generic functions over questions. */
export type NonEmpty<TAll> = TAll extends readonly []
  ? Empty
  : [keyof TAll] extends [never]
    ? Empty
    : unknown;

/** How large a question may be before it is rejected without sending (field facts). */
export interface QuestionLimits {
  /** Options of a choice question. @default 255 */
  readonly maxOptions?: number | undefined;
  /** Levels of a score question. @default 10 */
  readonly maxLevels?: number | undefined;
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
  /** How far the sum of values that are not rounded may be from 1. @default 0.000001 */
  sumError?: number;
}
