import { z } from "zod";
import { contentSchema } from "./content-schema.ts";
import type { QuestionInput } from "./evaluation-input.ts";
import { recordOf } from "./json-record.ts";

/** Most options of a choice question (field fact). */
const maxOptions = 255;
/** Most levels of a score question (field fact). */
const maxLevels = 10;

const instructionsSchema = contentSchema.nullish().transform((content) => content ?? null);

const choiceSchema = z.object({
  type: z.literal("choice"),
  instructions: instructionsSchema,
  criteria: recordOf(contentSchema.nullable())
    .refine((options) => Object.keys(options).length > 0, "expected at least 1 option")
    .refine(
      (options) => Object.keys(options).length <= maxOptions,
      `expected at most ${maxOptions} options`,
    ),
});

const scoreSchema = z.object({
  type: z.literal("score"),
  instructions: instructionsSchema,
  criteria: z
    .array(contentSchema)
    .min(1, "expected at least 1 level")
    .max(maxLevels, `expected at most ${maxLevels} levels`),
});

const booleanCriteriaSchema = z
  .object({ true: contentSchema.nullish(), false: contentSchema.nullish() })
  .nullish()
  .transform((criteria) => ({ true: criteria?.true ?? null, false: criteria?.false ?? null }));

/**
 * The schema of one question; fields it does not know are ignored (field fact).
 *
 * @param booleanType - What this wire calls a yes/no question (contract section 2.6).
 */
function questionSchema(booleanType: "boolean" | "noul"): z.ZodType<QuestionInput> {
  const booleanSchema = z
    .object({
      type: z.literal(booleanType).transform(() => "boolean" as const),
      instructions: instructionsSchema,
      criteria: booleanCriteriaSchema,
    })
    .refine(
      ({ instructions, criteria }) => (instructions ?? criteria.true ?? criteria.false) !== null,
      "expected instructions, or a description of yes or no",
    );
  return z.discriminatedUnion("type", [choiceSchema, scoreSchema, booleanSchema], {
    error: `expected a question of type choice, score or ${booleanType}`,
  });
}

/** The schema of a question map: at least one question, ids are data. */
export function questionsSchema(booleanType: "boolean" | "noul") {
  return recordOf(questionSchema(booleanType)).refine(
    (questions) => Object.keys(questions).length > 0,
    "expected at least 1 question",
  );
}
