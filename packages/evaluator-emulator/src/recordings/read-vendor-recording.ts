import { z } from "zod";
import type { JudgedAnswer } from "../answers/judgement.ts";
import { recordOf } from "../questions/json-record.ts";
import { mapRecord } from "../questions/map-record.ts";
import { parseVendorInput } from "../vendor/parse-vendor-input.ts";
import type { Recording } from "./recording.ts";

const confidenceSchema = z
  .number()
  .optional()
  .transform((confidence) => confidence ?? null);

const answerSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("choice"),
    choice: z.string(),
    probabilities: recordOf(z.number()),
    confidence: confidenceSchema,
  }),
  z.object({
    type: z.literal("score"),
    score: z.number(),
    probabilities: recordOf(z.number()),
    confidence: confidenceSchema,
  }),
  z.object({ type: z.literal("noul"), noul: z.number() }),
]);

const responseSchema = z.object({
  model: z.string().optional(),
  answers: recordOf(answerSchema),
  usage: z.object({ input_tokens: z.int(), output_tokens: z.int() }),
});

/**
 * Reads a recorded exchange with the vendor's own API.
 *
 * @throws {Error} when the request or the answers cannot be used again.
 */
export function readVendorRecording(requestBody: unknown, responseBody: unknown): Recording {
  const { model, answers, usage } = responseSchema.parse(responseBody);
  return {
    input: parseVendorInput(requestBody).input,
    judgement: {
      basis: "recorded",
      release: model ?? null,
      answers: mapRecord(answers, (answer): JudgedAnswer =>
        answer.type === "noul" ? { type: "boolean", probability: answer.noul } : answer,
      ),
      usage: { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens },
    },
  };
}
