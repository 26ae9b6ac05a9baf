import { evaluationRequestSchema, type Questions, type State } from "evaluator-client";
import { z } from "zod";
import { type AnswerForm, typedKinds } from "../commands/shared-options.ts";

// The assistant reads these schemas; the client's own check what it sends. A value of several types has none:
// `anyOf` loses alternatives in LangChain's adapter, and Gemini refuses every request with a list of types.
// Codex drops the description of a value without a type.

const typedEntries = Object.entries(typedKinds);
const kindNames = typedEntries.map(([kind]) => kind);
const criteriaTexts = typedEntries.map(
  ([kind, { criteriaInWords }]) => `of ${kind}: ${criteriaInWords}`,
);

const questionJsonSchema = {
  type: "object",
  properties: {
    type: { type: "string", enum: kindNames },
    instructions: { type: "string", minLength: 1, description: "the question, in words" },
    criteria: { description: "depends on the type" },
  },
  required: ["type", "instructions"],
  additionalProperties: false,
};

const stateSchema = z
  .unknown()
  .describe(
    "all that the model knows: text, a JSON object, or a list of texts, { json: object } and { image: a base64 data: URL or an https: address }",
  );
const questionsSchema = z.unknown().meta({
  type: "object",
  additionalProperties: questionJsonSchema,
  description: `id to question; ids are not sent. Criteria ${criteriaTexts.join("; ")}`,
});
const isState = (givenValue: unknown) =>
  typeof givenValue === "string" || typeof givenValue === "object";
const evaluateInput = z.object({
  state: stateSchema.pipe(z.custom<State>(isState, "not text, an object or a list of parts")),
  questions: questionsSchema.pipe(
    evaluationRequestSchema.shape.questions as z.core.$ZodType<Questions>,
  ),
});

const answerForms: Readonly<Record<AnswerForm, () => z.ZodType>> = {
  text: () => z.string(),
  number: () => z.number(),
  "numbers by name": () => z.record(z.string(), z.number()),
};
/** The fields that only answers of one kind have. */
const ownFields = Object.fromEntries(
  typedEntries.map(([, { answer }]) => {
    const [fieldName, form, description] = answer;
    return [fieldName, answerForms[form]().optional().describe(description)];
  }),
);

const answerSchema = z.object({
  type: z.enum(kindNames),
  ...ownFields,
  probabilities: z.record(z.string(), z.number()).optional().describe("the likeliest, at most 8"),
  omitted: z.int().optional().describe("options that are not listed"),
  confidence: z.number().optional(),
});

const modelSchema = z.object({
  id: z.string(),
  type: z.string().nullable(),
  inputUsdPerMillionTokens: z.number().nullable(),
  outputUsdPerMillionTokens: z.number().nullable(),
});

/** The title, input and output of each tool; the description of `evaluate` depends on the engine. */
export const tools = {
  evaluate: {
    title: "Ask typed questions",
    inputSchema: evaluateInput,
    outputSchema: z.object({
      answers: z.record(z.string(), answerSchema),
      calibration: z.string().describe("whether the probabilities are calibrated"),
      decisions: z
        .record(z.string(), z.looseObject({ act: z.string().nullable() }))
        .optional()
        .describe("the act on each answer with its evidence, or null and why"),
      model: z.string().nullable(),
      costUsd: z.number().nullable(),
      inputTokens: z.nullable(z.int()),
      basis: z.string().optional().describe("the basis of an emulator's answer; no model answered"),
    }),
  },
  estimate: {
    title: "Estimate a cost",
    description: "Estimates the tokens and cost of `evaluate`; sends nothing.",
    inputSchema: evaluateInput.extend({
      times: z.int().min(1).default(1).describe("how many such calls"),
    }),
    outputSchema: z.object({
      calls: z.int(),
      inputTokens: z.int(),
      costUsd: z.number().nullable().describe("null if the price is not known"),
      spentUsd: z.number().optional(),
      maxCostUsd: z.number().optional(),
      spentTokens: z.int().optional(),
      maxTokens: z.int().optional(),
    }),
  },
  list_models: {
    title: "List models",
    description: "Lists models with their prices in US dollars per million tokens; free.",
    inputSchema: z.object({
      type: z.string().default("evaluation").describe("such as evaluation or language"),
    }),
    outputSchema: z.object({
      models: z.array(modelSchema),
      total: z.int().describe("of this type"),
    }),
  },
};
