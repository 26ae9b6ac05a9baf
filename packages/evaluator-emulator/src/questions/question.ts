import { z } from "zod";
import { recordOf } from "../json.ts";
import { type Content, contentSchema } from "./content.ts";

/** A question that picks one of the named options. */
export interface ChoiceInput {
  readonly type: "choice";
  readonly instructions: Content | null;
  /** Option name to description, or null where an option has none. */
  readonly criteria: Readonly<Record<string, Content | null>>;
}

/** A question that places the state on ordered levels. */
export interface ScoreInput {
  readonly type: "score";
  readonly instructions: Content | null;
  /** Level descriptions from index 0 up. */
  readonly criteria: readonly Content[];
}

/** A yes/no question. */
export interface BooleanInput {
  readonly type: "boolean";
  readonly instructions: Content | null;
  /** What counts as yes and as no, or null where the caller does not say. */
  readonly criteria: { readonly true: Content | null; readonly false: Content | null };
}

/** One question, the same whichever wire it came over. */
export type QuestionInput = ChoiceInput | ScoreInput | BooleanInput;

/** What every wire's evaluation request is brought to before it is answered. */
export interface EvaluationInput {
  readonly state: Content;
  /** What tells the images beside the state from others, in order; absent where there are none. */
  readonly images?: readonly string[];
  readonly questions: Readonly<Record<string, QuestionInput>>;
}

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
function questionSchema(booleanType: "boolean" | "noul"): z.core.$ZodType<QuestionInput> {
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

/** Returns the schema of a question map: at least one question, ids are data. */
export function questionsSchema(booleanType: "boolean" | "noul") {
  return recordOf(questionSchema(booleanType)).refine(
    (questions) => Object.keys(questions).length > 0,
    "expected at least 1 question",
  );
}

const texts = new WeakMap<QuestionInput, string>();

/** Returns a question's instructions and criteria as one JSON text, without its id. */
export function questionText(question: QuestionInput): string {
  const known = texts.get(question);
  if (known !== undefined) return known;
  const text = JSON.stringify([question.instructions, question.criteria]);
  texts.set(question, text);
  return text;
}
