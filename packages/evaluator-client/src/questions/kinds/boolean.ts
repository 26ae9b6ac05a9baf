import * as z from "zod/mini";
import { checkProbability, frozenCopy, probability } from "../json.ts";
import { type Wording, wordingSchema, wordingText } from "../wording.ts";
import type { KindOf } from "./kind.ts";

/** A yes/no question; `criteria` is left out in the contract and understood by the vendor (field fact). */
export const booleanQuestionSchema = /* @__PURE__ */ (() =>
  z.strictObject({
    type: z.literal("boolean"),
    instructions: wordingSchema(),
    criteria: z.optional(
      z.strictObject({ true: z.optional(wordingSchema()), false: z.optional(wordingSchema()) }),
    ),
  }))();
/** See {@link booleanQuestionSchema}. */
export interface BooleanQuestion {
  readonly type: "boolean";
  /** The question. */
  readonly instructions: Wording;
  /** What counts as yes and as no. */
  readonly criteria?: { readonly true?: Wording; readonly false?: Wording };
}

/** The answer to a boolean question: the probability of yes. */
export const booleanAnswerSchema = /* @__PURE__ */ (() =>
  z.looseObject({ type: z.literal("boolean"), probability: probability() }))();
/** See {@link booleanAnswerSchema}. */
export interface BooleanAnswer {
  type: "boolean";
  /** Probability of yes, 0..1. */
  probability: number;
}

/**
 * Builds a yes/no question; its answer is the probability of yes.
 * @example
 * ```ts
 * boolean("Does it look like a scam?");
 * ```
 */
export function boolean(
  instructions: Wording,
  criteria?: BooleanQuestion["criteria"],
): BooleanQuestion {
  return frozenCopy({ type: "boolean", instructions, ...(criteria !== undefined && { criteria }) });
}

/** The kind `boolean`. */
export const booleanKind = {
  questionSchema: booleanQuestionSchema,
  answerSchema: booleanAnswerSchema,
  limit: null,
  hasConfidence: false,
  keys: () => [],
  check: (_, answer) => checkProbability(answer["probability"]),
  values: () => [{ name: "probability", form: "probability", of: (one) => one.probability }],
  truths: ({ criteria = {} }) => [
    { truth: true, name: "yes", description: wordingText(criteria.true ?? null) },
    { truth: false, name: "no", description: wordingText(criteria.false ?? null) },
  ],
} satisfies KindOf<BooleanQuestion, BooleanAnswer>;
