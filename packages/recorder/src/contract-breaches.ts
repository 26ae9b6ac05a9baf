import {
  createEvaluator,
  directTransport,
  type EvaluationRequest,
  evaluationResponseSchema,
  gatewayTransport,
  InvalidResponseError,
  RefusalError,
} from "evaluator-client";
import type { Exchange } from "evaluator-exchanges";
import { z } from "zod";
import { extend, safeParse } from "zod/mini";

/** One rule of the contract that a response breaks. */
export interface ContractBreach {
  readonly path: readonly PropertyKey[];
  /** What is wrong; repeats nothing of the response. */
  readonly problem: string;
}

const decimalSchema = z.string().regex(/^\d+(?:\.\d+)?$/, { error: "expected a decimal" });

/** The metadata that the contract shows (2.5) and the client does without. */
const metadataSchema = z.looseObject({
  gateway: z.looseObject({
    routing: z.looseObject({ canonicalSlug: z.string(), modelAttempts: z.array(z.json()) }),
    cost: decimalSchema,
    marketCost: decimalSchema,
    generationId: z.string().startsWith("gen_"),
  }),
});

const confidenceSchema = z.number().min(0).max(1);

/** What the vendor's own answers carry besides (contract 2.6) and the client does without. */
const directBodySchema = z.looseObject({
  model: z.string(),
  answers: z.record(
    z.string(),
    z.discriminatedUnion("type", [
      z.looseObject({ type: z.literal("choice"), confidence: confidenceSchema }),
      z.looseObject({
        type: z.literal("score"),
        confidence: confidenceSchema,
        legend: z.record(z.string(), z.json()),
      }),
      z.looseObject({ type: z.literal("noul"), noul: z.number() }),
    ]),
  ),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int() }),
});
const gatewayBodySchema = extend(evaluationResponseSchema, { providerMetadata: metadataSchema });

const directErrorSchema = z.looseObject({
  detail: z.union([z.string(), z.looseObject({ error_type: z.string() }), z.array(z.json())]),
});
// A provider's own error comes through the gateway unchanged (field fact).
const gatewayErrorSchema = z
  .looseObject({ error: z.looseObject({ message: z.string() }) })
  .or(directErrorSchema);

/**
 * Returns every rule of the contract that a body breaks as the answer to an exchange's request. The
 * answers are read by the client itself: what it refuses breaks the contract.
 */
export async function contractBreaches(
  exchange: Exchange,
  body: unknown,
): Promise<ContractBreach[]> {
  const { request, response } = exchange;
  const isDirect = request.path.endsWith("/v1/systemone");
  if (response.status >= 300) {
    return schemaBreaches(isDirect ? directErrorSchema : gatewayErrorSchema, body);
  }
  if (!isEvaluation(request.body)) return [];
  const schema = isDirect ? directBodySchema : gatewayBodySchema;
  const breaches = schemaBreaches(schema, body, request.body.questions);
  return breaches.length > 0 ? breaches : await answerBreaches(request.body, body, { isDirect });
}

function schemaBreaches(
  schema: z.core.$ZodType,
  body: unknown,
  asked: EvaluationRequest["questions"] = {},
): ContractBreach[] {
  return (safeParse(schema, body).error?.issues ?? []).map(({ path: [first, ...rest], message }) =>
    first === "answers"
      ? answerBreach(rest, message, asked)
      : {
          path: ["response", "body", ...(first === undefined ? [] : [first, ...rest])],
          problem: message,
        },
  );
}

/** Returns what the client refuses when a body is the answer to its request. */
async function answerBreaches(
  { state, questions }: EvaluationRequest,
  body: unknown,
  { isDirect }: { isDirect: boolean },
): Promise<ContractBreach[]> {
  const fetch = async () => Response.json(body);
  const options = { fetch, apiKey: "none", env: {} };
  const transport = isDirect ? directTransport(options) : gatewayTransport(options);
  const asked = isDirect ? renamedFromVendor(questions) : questions;
  const evaluator = createEvaluator({ transport, maxRetries: 0 });
  try {
    await evaluator.evaluate({ state, questions: asked });
    return [];
  } catch (error) {
    if (error instanceof RefusalError) {
      return error.questionIds.map((id) => answerBreach([id], "the model declined", asked));
    }
    if (!(error instanceof InvalidResponseError)) throw error;
    const place = error.questionId === null ? [] : [error.questionId];
    return [answerBreach(place, `breaks the rule ${error.rule}`, asked)];
  }
}

/** Returns a breach within the answers, without the names that the service chose. */
function answerBreach(
  [id, field]: readonly PropertyKey[],
  problem: string,
  asked: EvaluationRequest["questions"],
): ContractBreach {
  const isAsked = id !== undefined && Object.hasOwn(asked, id);
  const place = isAsked ? [id, ...(field === undefined ? [] : [field])] : [];
  return { path: ["response", "body", "answers", ...place], problem };
}

function renamedFromVendor(questions: Record<string, object>): EvaluationRequest["questions"] {
  const entries = Object.entries(questions).map(([id, question]) => [
    id,
    "type" in question && question.type === "noul" ? { ...question, type: "boolean" } : question,
  ]);
  return Object.fromEntries(entries) as EvaluationRequest["questions"];
}

function isEvaluation(body: unknown): body is EvaluationRequest {
  return typeof body === "object" && body !== null && "state" in body && "questions" in body;
}
