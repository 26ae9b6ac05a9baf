import { z } from "zod";
import { isJsonRecord } from "../json.ts";
import { type Content, contentSchema } from "../questions/content.ts";
import { type EvaluationInput, questionsSchema } from "../questions/question.ts";
import { invalidRequest } from "./gateway-error.ts";

const statePartSchema = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.literal("text"), text: z.string() }),
    z.object({ type: z.literal("json"), value: contentSchema }),
  ],
  { error: "expected a text or json part; this model reads no files" },
);

const questions = questionsSchema("boolean");
const stateBodySchema = z.object({ state: contentSchema, questions });
const partsBodySchema = z.object({ stateParts: z.array(statePartSchema).min(1), questions });

/** A path of the gateway's evaluation wire: the contract's, or its successor's. */
export type EvaluationWire = "evaluation-model" | "decision-model";

/**
 * Reads the body of an evaluation: `state` as in the contract, which the successor takes too, or
 * the successor's own `stateParts` (field fact); other top-level fields are ignored.
 *
 * @throws {GatewayError} a 400 that names the first field at fault, never its value.
 */
export function parseGatewayInput(body: unknown, wire: EvaluationWire): EvaluationInput {
  const hasParts = isJsonRecord(body) && Object.hasOwn(body, "stateParts");
  if (wire === "evaluation-model" || !hasParts) return parse(stateBodySchema, body);
  const { stateParts, questions } = parse(partsBodySchema, body);
  return { state: joinParts(stateParts), questions };
}

function parse<TBody>(schema: z.ZodType<TBody>, body: unknown): TBody {
  const { data, error } = schema.safeParse(body);
  if (error === undefined) return data;
  const [issue] = error.issues;
  const where = ["body", ...(issue?.path ?? [])].map(String).join(".");
  throw invalidRequest(`Invalid request: ${where}: ${issue?.message}`);
}

function joinParts(parts: readonly z.infer<typeof statePartSchema>[]): Content {
  const contents = parts.map((part) => (part.type === "text" ? part.text : part.value));
  return contents.length === 1 && contents[0] !== undefined ? contents[0] : contents;
}
