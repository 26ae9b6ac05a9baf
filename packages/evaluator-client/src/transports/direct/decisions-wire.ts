import * as z from "zod";

/** The path of the decisions form under a server's base URL. */
export const decisionsPath = "/v1/decisions";

const probability = z.number();

/** One answer of the decisions form; its probabilities are a list, each with what it belongs to. */
const decisionAnswerSchema = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("predicate"), name: z.string().nullish(), probability }),
  z.looseObject({
    type: z.literal("choice"),
    name: z.string().nullish(),
    choice: z.string(),
    probabilities: z.array(z.looseObject({ value: z.string(), probability })),
  }),
  z.looseObject({
    type: z.literal("score"),
    name: z.string().nullish(),
    score: z.number(),
    probabilities: z.array(z.looseObject({ value: z.number(), probability })),
  }),
  z.looseObject({ type: z.literal("refusal"), name: z.string().nullish() }),
]);
/** See {@link decisionAnswerSchema}. */
export type DecisionAnswer = z.infer<typeof decisionAnswerSchema>;

/** The parts of a decisions response that are mapped; anything else passes. */
export const decisionsResponseSchema = z.looseObject({
  model: z.string().nullish(),
  answers: z.array(decisionAnswerSchema),
  usage: z.looseObject({ input_tokens: z.int().min(0), output_tokens: z.int().min(0) }),
});
