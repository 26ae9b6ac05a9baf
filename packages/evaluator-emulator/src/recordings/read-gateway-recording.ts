import { z } from "zod";
import type { JudgedAnswer } from "../answers/judgement.ts";
import { parseGatewayInput } from "../gateway/parse-gateway-input.ts";
import { isJsonRecord, recordOf } from "../questions/json-record.ts";
import { mapRecord } from "../questions/map-record.ts";
import type { Recording } from "./recording.ts";

const answerSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("choice"),
    choice: z.string(),
    probabilities: recordOf(z.number()),
  }),
  z.object({ type: z.literal("score"), score: z.number(), probabilities: recordOf(z.number()) }),
  z.object({ type: z.literal("boolean"), probability: z.number() }),
]);

const responseSchema = z.object({
  answers: recordOf(answerSchema),
  usage: z.object({ inputTokens: z.int(), outputTokens: z.int() }),
  providerMetadata: recordOf(z.unknown()).optional(),
});

/**
 * Reads a recorded exchange with the gateway, of any generation of its wire.
 *
 * @throws {Error} when the request or the answers cannot be used again, such as a refusal.
 */
export function readGatewayRecording(requestBody: unknown, responseBody: unknown): Recording {
  const { answers, usage, providerMetadata = {} } = responseSchema.parse(responseBody);
  const confidence = findConfidence(providerMetadata);
  return {
    input: parseGatewayInput(requestBody, "decision-model"),
    judgement: {
      basis: "recorded",
      release: null,
      answers: mapRecord(answers, (answer, id): JudgedAnswer =>
        answer.type === "boolean" ? answer : { ...answer, confidence: confidence(id) },
      ),
      usage,
    },
  };
}

/** Confidence is under the vendor's own key, whatever it is (contract section 2.5). */
function findConfidence(providerMetadata: Record<string, unknown>): (id: string) => number | null {
  const byId = Object.entries(providerMetadata)
    .filter(([provider]) => provider !== "gateway")
    .map(([, metadata]) => (isJsonRecord(metadata) ? metadata["confidence"] : undefined))
    .find(isJsonRecord);
  return (id) => {
    const value = byId !== undefined && Object.hasOwn(byId, id) ? byId[id] : null;
    return typeof value === "number" ? value : null;
  };
}
