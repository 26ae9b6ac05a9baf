import type { KindName } from "evaluator-client";
import { z } from "zod";

// The assistant reads these schemas; the client checks each request with its own. The client's keep
// every key (`z.custom`), which JSON Schema cannot express, and have no descriptions.

const instructions = z.string().min(1).describe("the question, in words");
// Strict: an unknown key would be dropped silently.
const kindSchemas = {
  boolean: z
    .strictObject({
      type: z.literal("boolean"),
      instructions,
      criteria: z
        .strictObject({ true: z.string().exactOptional(), false: z.string().exactOptional() })
        .exactOptional()
        .describe("what counts as yes and what as no, if the words leave it open"),
    })
    .describe("yes or no"),
  choice: z
    .strictObject({
      type: z.literal("choice"),
      instructions,
      criteria: z
        .record(z.string(), z.string())
        .describe("option name to its meaning; add one such as `other` as a way out"),
    })
    .describe("one of named options"),
  score: z
    .strictObject({
      type: z.literal("score"),
      instructions,
      criteria: z.array(z.string()).min(1).describe("levels from low to high, each a sentence"),
    })
    .describe("a level of an ordered scale"),
} satisfies Record<KindName, z.ZodObject>;
type KindSchema = (typeof kindSchemas)[KindName];
const kinds = Object.values(kindSchemas) as [KindSchema, ...KindSchema[]];

const statePart = z.union([
  z.string(),
  z.strictObject({ json: z.record(z.string(), z.unknown()) }),
  z.strictObject({ image: z.string().describe("a data: URL in base64, or an https: address") }),
]);

const evaluateInput = z.object({
  state: z
    .union([z.string(), z.record(z.string(), z.unknown()), z.array(statePart).min(1)], {
      error: "state is text, a JSON object, or a list of texts, { json } and { image }",
    })
    .describe("the subject of the questions, all the model knows: text, an object, or parts"),
  questions: z
    .record(z.string(), z.discriminatedUnion("type", kinds))
    .describe("id to question; the model sees no id"),
});

/** The fields that only answers of one kind have. */
const answerFields: Readonly<Record<KindName, z.core.$ZodLooseShape>> = {
  boolean: { probability: z.number().optional().describe("boolean: of yes") },
  choice: { choice: z.string().optional() },
  score: { score: z.number().optional().describe("mean of the level indexes, from 0") },
};
const ownFields: z.core.$ZodLooseShape = Object.assign({}, ...Object.values(answerFields));

const answerSchema = z.object({
  type: z.enum(Object.keys(kindSchemas)),
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
        .describe("the act on each answer with the promise as its evidence, or null and why"),
      model: z.string().nullable(),
      costUsd: z.number().nullable(),
      inputTokens: z.int(),
      basis: z.string().optional().describe("the basis of an emulator's answer; no model answered"),
    }),
  },
  estimate: {
    title: "Estimate a cost",
    description: "Estimates the tokens and cost of a call of `evaluate`, without sending it.",
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
