import * as z from "zod";
import { isRecord, recordOf } from "../../questions/record-of.ts";

/** The path of an evaluation under the vendor's base URL (contract section 4.5). */
export const directPath = "/v1/systemone";

/** The vendor's limits for one key (contract section 8). */
export const directLimits = { requestsPerMinute: 1200, tokensPerSecond: 250_000 };

/** The headers of a direct request; without a key, no `Authorization` (field facts). */
export function directHeaders(apiKey: string | null): Record<string, string> {
  const authorization = apiKey === null ? {} : { Authorization: `Bearer ${apiKey}` };
  return { ...authorization, "Content-Type": "application/json" };
}

/** The parts of a direct response that are mapped; anything else passes (contract section 2.6). */
export const directResponseSchema = z.looseObject({
  model: z.string().optional(),
  answers: recordOf(z.looseObject({ type: z.string() })),
  usage: z.looseObject({ input_tokens: z.number(), output_tokens: z.number() }),
});
/** See {@link directResponseSchema}. */
export type DirectResponse = z.infer<typeof directResponseSchema>;
/** One answer as the vendor gives it. */
export type DirectAnswer = DirectResponse["answers"][string];

/** What {@link directResponseSchema} says, at a tenth of its cost (benchmark: calls). */
export function isDirectResponse(json: unknown): json is DirectResponse {
  if (!isRecord(json)) return false;
  const { model = "", answers, usage } = json;
  return (
    typeof model === "string" &&
    isRecord(answers) &&
    Object.values(answers).every(
      (answer) => isRecord(answer) && typeof answer["type"] === "string",
    ) &&
    isRecord(usage) &&
    Number.isFinite(usage["input_tokens"]) &&
    Number.isFinite(usage["output_tokens"])
  );
}

/** The vendor's three error bodies: words, a named error, or a list of field errors (field facts). */
export const directErrorBodySchema = z.looseObject({
  detail: z.union([
    z.string(),
    z.looseObject({ error_type: z.string(), message: z.string().nullish() }),
    z.array(z.looseObject({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string() })),
  ]),
});
