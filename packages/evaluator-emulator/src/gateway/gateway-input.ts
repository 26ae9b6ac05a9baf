import * as z from "zod/mini";
import { parseBody } from "../call.ts";
import { isJsonRecord, mapped } from "../json.ts";
import { contentSchema, imageSchema, joinParts } from "../questions/content.ts";
import type { EvaluationInput } from "../questions/evaluation-input.ts";
import { questionsSchema } from "../questions/kinds/kinds.ts";

/** A file as the gateway's own client sends it: its bytes, never an address. */
const filePartSchema = z.pipe(
  mapped(
    z.object({
      type: z.literal("file"),
      mediaType: z
        .string()
        .check(z.regex(/^image\/\w+$/, "expected an image; this model reads no other file")),
      data: z.object({ type: z.literal("data"), data: z.string() }),
    }),
    ({ mediaType, data }) => ({ format: mediaType.slice(6), base64: data.data }),
  ),
  mapped(imageSchema, (image) => ({ image })),
);

const statePartSchema = z.discriminatedUnion(
  "type",
  [
    mapped(z.object({ type: z.literal("text"), text: z.string() }), ({ text }) => ({
      content: text,
    })),
    mapped(z.object({ type: z.literal("json"), value: contentSchema }), ({ value: content }) => ({
      content,
    })),
    filePartSchema,
  ],
  { error: "expected a text, json or file part" },
);

const questions = questionsSchema("gateway");
const stateBodySchema = z.object({ state: contentSchema, questions });
const partsBodySchema = z.object({
  stateParts: z.array(statePartSchema).check(z.minLength(1)),
  questions,
});

/**
 * Reads the body of an evaluation: `state` as in the contract, which the successor takes too, or
 * the successor's own `stateParts` (field fact); other top-level fields are ignored.
 *
 * @throws {RequestError} a 400 that names the first field at fault, never its value.
 */
export function parseGatewayInput(
  requestBody: unknown,
  wire: "evaluation-model" | "decision-model",
): EvaluationInput {
  const hasParts = isJsonRecord(requestBody) && Object.hasOwn(requestBody, "stateParts");
  if (wire === "evaluation-model" || !hasParts) return parseBody(stateBodySchema, requestBody);
  const { stateParts, questions } = parseBody(partsBodySchema, requestBody);
  return { ...joinParts(stateParts), questions };
}
