import {
  createEvaluator,
  directTransport,
  type Evaluation,
  type EvaluationRequest,
  evaluationResponseSchema,
  gatewayTransport,
  InvalidResponseError,
  RefusalError,
} from "evaluator-client";
import type { Exchange } from "evaluator-client/testing";
import { z } from "zod";
import { extend, safeParse } from "zod/mini";

/** One rule of the contract that a response breaks. */
export interface ContractBreach {
  readonly path: readonly PropertyKey[];
  /** What is wrong; repeats nothing of the response. */
  readonly problem: string;
}

// What the client reads is left to the client. Own schemas are here only of what it does without: the
// gateway's metadata (contract 2.5), and the body of an error, since it goes by the status.

const decimalSchema = z.string().regex(/^\d+(?:\.\d+)?$/, { error: "expected a decimal" });
const metadataSchema = z.looseObject({
  gateway: z.looseObject({
    routing: z.looseObject({ canonicalSlug: z.string(), modelAttempts: z.array(z.json()) }),
    cost: decimalSchema,
    marketCost: decimalSchema,
    generationId: z.string().startsWith("gen_"),
  }),
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
 * Returns the rules of the contract that a body breaks as the answer to an exchange's request. The
 * body is read by the client itself: what it rejects breaks the contract.
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
  if (isDirect) return await directBreaches(request.body, body);
  const breaches = schemaBreaches(gatewayBodySchema, body, request.body.questions);
  if (breaches.length > 0) return breaches;
  const outcome = await evaluateWith(gatewayTransport, request.body, body);
  return Array.isArray(outcome) ? outcome : [];
}

function schemaBreaches(
  schema: z.core.$ZodType,
  body: unknown,
  asked: EvaluationRequest["questions"] = {},
): ContractBreach[] {
  return (safeParse(schema, body).error?.issues ?? []).map(({ path: [first, ...rest], message }) =>
    first === "answers"
      ? answerBreach(rest, message, asked)
      : bodyBreach(first === undefined ? [] : [first, ...rest], message),
  );
}

async function directBreaches(
  { state, questions }: EvaluationRequest,
  body: unknown,
): Promise<ContractBreach[]> {
  const asked = renamedFromVendor(questions);
  const outcome = await evaluateWith(directTransport, { state, questions: asked }, body);
  return Array.isArray(outcome) ? outcome : vendorBreaches(outcome, questions);
}

/** Returns what the vendor's answers lack that its API gives (contract 2.6) and the client does without. */
function vendorBreaches(
  { modelId, confidence, providerMetadata, raw }: Evaluation,
  asked: EvaluationRequest["questions"],
): ContractBreach[] {
  // The client has read both, so they have this form.
  const { answers } = raw as { answers: Record<string, { type: string }> };
  const { legend } = providerMetadata["typesafe"] as { legend: Record<string, unknown> };
  const breaches = modelId === null ? [bodyBreach(["model"], "expected a text")] : [];
  for (const [id, { type }] of Object.entries(asked)) {
    const check = (field: string, holds: boolean, expected: string) => {
      if (!holds) breaches.push(answerBreach([id, field], `expected ${expected}`, asked));
    };
    check("type", answers[id]?.type === type, type);
    const isShown = !Object.hasOwn(confidence, id) || isShare(confidence[id]);
    check("confidence", isShown, "a number from 0 to 1");
    check("legend", !("score" in (answers[id] ?? {})) || isRecord(legend[id]), "an object");
  }
  return breaches;
}

/** Returns the client's evaluation where a body is the answer to its request, else what it rejects. */
async function evaluateWith(
  transportOf: typeof directTransport | typeof gatewayTransport,
  request: EvaluationRequest,
  body: unknown,
): Promise<Evaluation | ContractBreach[]> {
  const fetch = async () => Response.json(body);
  const transport = transportOf({ fetch, apiKey: "none", env: {} });
  try {
    return await createEvaluator({ transport, maxRetries: 0 }).evaluate(request);
  } catch (error) {
    const { questions } = request;
    if (error instanceof RefusalError) {
      return error.questionIds.map((id) => answerBreach([id], "the model declined", questions));
    }
    if (!(error instanceof InvalidResponseError)) throw error;
    const { questionId, rule, message } = error;
    // Its message names the path, and nothing that is the server's own.
    if (rule === "body-shape") return [bodyBreach([], message)];
    return [
      answerBreach(questionId === null ? [] : [questionId], `breaks the rule ${rule}`, questions),
    ];
  }
}

function bodyBreach(path: readonly PropertyKey[], problem: string): ContractBreach {
  return { path: ["response", "body", ...path], problem };
}

/** Returns a breach within the answers, without the names that the service chose. */
function answerBreach(
  [id, field]: readonly PropertyKey[],
  problem: string,
  asked: EvaluationRequest["questions"],
): ContractBreach {
  const isAsked = id !== undefined && Object.hasOwn(asked, id);
  const answerPath = isAsked ? [id, ...(field === undefined ? [] : [field])] : [];
  return bodyBreach(["answers", ...answerPath], problem);
}

/** Returns questions that stand in an exchange as the vendor names their types (contract 2.6) as a caller asks them. */
function renamedFromVendor(questions: Record<string, object>): EvaluationRequest["questions"] {
  const entries = Object.entries(questions).map(([id, question]) => [
    id,
    "type" in question && question.type === "noul" ? { ...question, type: "boolean" } : question,
  ]);
  return Object.fromEntries(entries) as EvaluationRequest["questions"];
}

function isEvaluation(body: unknown): body is EvaluationRequest {
  return isRecord(body) && "state" in body && "questions" in body;
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isShare(value: number | null | undefined): boolean {
  return typeof value === "number" && value >= 0 && value <= 1;
}
