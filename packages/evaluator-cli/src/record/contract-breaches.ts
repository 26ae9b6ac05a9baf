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
import { isRecord } from "evaluator-kit";
import { z } from "zod";
import { extend, safeParse } from "zod/mini";

interface ContractBreach {
  readonly path: readonly PropertyKey[];
  /** The problem, without any text of the response. */
  readonly problem: string;
}

type Asked = EvaluationRequest["questions"];

// The client checks the fields that it reads. These schemas add the others: the gateway's metadata
// (contract 2.5), and the body of an error, since the client goes by the status.
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
// A provider's error passes the gateway unchanged (field fact).
const gatewayErrorSchema = z
  .looseObject({ error: z.looseObject({ message: z.string() }) })
  .or(directErrorSchema);

/** Returns the rules of the contract that a body breaks as the answer to an exchange's request. */
export async function contractBreaches({ request, response }: Exchange, body: unknown) {
  const isDirect = request.path.endsWith("/v1/systemone");
  if (response.status >= 300) {
    return schemaBreaches(isDirect ? directErrorSchema : gatewayErrorSchema, body);
  }
  if (!isEvaluation(request.body)) return [];
  const { state, questions } = request.body;
  const breaches = isDirect ? [] : schemaBreaches(gatewayBodySchema, body, questions);
  if (breaches.length > 0) return breaches;
  const outcome = isDirect
    ? await evaluateWith(directTransport, { state, questions: renamedFromVendor(questions) }, body)
    : await evaluateWith(gatewayTransport, request.body, body);
  if (Array.isArray(outcome)) return outcome;
  return isDirect ? vendorBreaches(outcome, questions) : [];
}

function schemaBreaches(schema: z.core.$ZodType, body: unknown, asked: Asked = {}) {
  const issues = safeParse(schema, body).error?.issues ?? [];
  return issues.map(({ path, message }) => breachAt(path, message, asked));
}

/** Checks the fields that the vendor's API gives (contract 2.6) and the client does not read. */
function vendorBreaches(evaluation: Evaluation, asked: Asked): ContractBreach[] {
  const { modelId, confidence, providerMetadata, raw } = evaluation;
  // The client has read both, so they have this form.
  const { answers } = raw as { answers: Record<string, { type: string }> };
  const { legend } = providerMetadata["typesafe"] as { legend: Record<string, unknown> };
  const breaches = modelId === null ? [breachAt(["model"], "expected a text", asked)] : [];
  for (const [id, { type }] of Object.entries(asked)) {
    const check = (field: string, holds: boolean, expected: string) => {
      if (!holds) breaches.push(breachAt(["answers", id, field], `expected ${expected}`, asked));
    };
    const answer = answers[id] ?? { type: undefined };
    const share = confidence[id] ?? -1;
    check("type", answer.type === type, type);
    const isShown = !Object.hasOwn(confidence, id) || (share >= 0 && share <= 1);
    check("confidence", isShown, "a number from 0 to 1");
    check("legend", !("score" in answer) || isRecord(legend[id]), "an object");
  }
  return breaches;
}

/** Returns the client's evaluation of a body, or the rules by which the client rejects it. */
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
      const reason = "the model declined";
      return error.questionIds.map((id) => breachAt(["answers", id], reason, questions));
    }
    if (!(error instanceof InvalidResponseError)) throw error;
    const { questionId, rule, message } = error;
    // The message names the path, and no text of the server.
    if (rule === "body-shape") return [breachAt([], message, questions)];
    const path = questionId === null ? ["answers"] : ["answers", questionId];
    return [breachAt(path, `breaks the rule ${rule}`, questions)];
  }
}

/** Returns a breach at a path in the body, without the names that the service chose for answers. */
function breachAt(path: readonly PropertyKey[], problem: string, asked: Asked): ContractBreach {
  const [first, id = ""] = path;
  const known = first === "answers" ? path.slice(0, Object.hasOwn(asked, id) ? 3 : 1) : path;
  return { path: ["response", "body", ...known], problem };
}

/** Returns the vendor's questions (contract 2.6) with the client's names of their types. */
function renamedFromVendor(questions: Record<string, object>): Asked {
  const entries = Object.entries(questions).map(([id, question]) => {
    const isBoolean = "type" in question && question.type === "noul";
    return [id, isBoolean ? { ...question, type: "boolean" } : question];
  });
  return Object.fromEntries(entries) as Asked;
}

function isEvaluation(body: unknown): body is EvaluationRequest {
  return isRecord(body) && "state" in body && "questions" in body;
}
