import type { EvaluationRequest, State } from "evaluator-client";
import { z } from "zod";

// What an assistant is told, not what is checked: the client parses each request again by its own
// schemas. Those cannot stand here, as they keep every key (`z.custom`), which JSON Schema cannot say,
// and describe nothing. `toRequest` holds the two together. Made once, not for each server over HTTP.

const instructions = z.string().min(1).describe("the question, in words");
// Strict: a key that no question has would be dropped without a word.
const questionSchema = z.discriminatedUnion("type", [
  z
    .strictObject({
      type: z.literal("boolean"),
      instructions,
      criteria: z
        .strictObject({ true: z.string().exactOptional(), false: z.string().exactOptional() })
        .exactOptional()
        .describe("what counts as yes and what as no, where the words leave it open"),
    })
    .describe("yes or no"),
  z
    .strictObject({
      type: z.literal("choice"),
      instructions,
      criteria: z
        .record(z.string(), z.string())
        .describe("option name to what it means; add one such as `other` as a way out"),
    })
    .describe("one of named options"),
  z
    .strictObject({
      type: z.literal("score"),
      instructions,
      criteria: z.array(z.string()).min(1).describe("levels from low to high, each a sentence"),
    })
    .describe("a level of an ordered scale"),
]);
/** What `evaluate` takes. */
export const evaluateInput = z.object({
  state: z
    .union([z.string(), z.record(z.string(), z.unknown())], {
      error: "state is text or a JSON object; images are not taken here",
    })
    .describe("what the questions are about: text, or an object; no images; all the model knows"),
  questions: z.record(z.string(), questionSchema).describe("id to question; the model sees no id"),
});

/** Returns what the client asks for an assistant's input; it does not compile where the two differ. */
export function toRequest({ state, questions }: z.infer<typeof evaluateInput>): EvaluationRequest {
  return { state: state as State, questions };
}

/** What `estimate` takes. */
export const estimateInput = evaluateInput.extend({
  times: z.int().min(1).default(1).describe("so many such calls"),
});

const answerSchema = z.object({
  type: z.enum(["boolean", "choice", "score"]),
  probability: z.number().optional().describe("boolean: of yes"),
  choice: z.string().optional(),
  score: z.number().optional().describe("mean of the level indexes, from 0"),
  probabilities: z.record(z.string(), z.number()).optional().describe("the likeliest, at most 8"),
  omitted: z.int().optional().describe("options that are not listed"),
  confidence: z.number().optional(),
});
/** An answer as an assistant gets it, with the likeliest of its probabilities. */
export type ShortAnswer = z.infer<typeof answerSchema>;

/** What `evaluate` returns. */
export const evaluateOutput = z.object({
  answers: z.record(z.string(), answerSchema),
  model: z.string().nullable(),
  costUsd: z.number().nullable(),
  inputTokens: z.int(),
  basis: z.string().optional().describe("what an emulator's answer rests on; no model answered"),
});

/** What `estimate` returns. */
export const estimateOutput = z.object({
  calls: z.int(),
  inputTokens: z.int(),
  costUsd: z.number().nullable().describe("null where the price is not known"),
  spentUsd: z.number().optional(),
  maxCostUsd: z.number().optional(),
  spentTokens: z.int().optional(),
  maxTokens: z.int().optional(),
});

const modelSchema = z.object({
  id: z.string(),
  type: z.string().nullable(),
  inputUsdPerMillionTokens: z.number().nullable(),
  outputUsdPerMillionTokens: z.number().nullable(),
});

/** What `list_models` takes. */
export const listInput = z.object({
  type: z.string().default("evaluation").describe("such as evaluation or language"),
});
/** What `list_models` returns. */
export const listOutput = z.object({
  models: z.array(modelSchema),
  total: z.int().describe("of this type"),
});
