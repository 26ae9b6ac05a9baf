import * as z from "zod/mini";
import { recordOf } from "./json.ts";

/** A question that picks one of named options; names and descriptions are both read by the model. */
export const choiceQuestionSchema = z.strictObject({
  type: z.literal("choice"),
  instructions: z.string(),
  criteria: recordOf(z.string()),
});

/** A question that places the state on ordered levels; the position in the list is the level index. */
export const scoreQuestionSchema = z.strictObject({
  type: z.literal("score"),
  instructions: z.string(),
  criteria: z.array(z.string()),
});

/** A yes/no question; `criteria` is left out in the contract and understood by the vendor (field fact). */
export const booleanQuestionSchema = z.strictObject({
  type: z.literal("boolean"),
  instructions: z.string(),
  criteria: z.optional(
    z.strictObject({ true: z.optional(z.string()), false: z.optional(z.string()) }),
  ),
});

/** One typed question (contract section 2.2). */
export const questionSchema = z.discriminatedUnion("type", [
  choiceQuestionSchema,
  scoreQuestionSchema,
  booleanQuestionSchema,
]);

/** How large a question may be before it is refused without sending. */
export const questionLimitsSchema = z.strictObject({
  maxOptions: z.optional(z.int().check(z.minimum(1))),
  maxLevels: z.optional(z.int().check(z.minimum(1))),
});
