import {
  createEvaluator,
  directTransport,
  type EvaluationRequest,
  evaluationResponseSchema,
  gatewayTransport,
  InvalidResponseError,
  RefusalError,
} from "evaluator-client";
import type { Exchange } from "evaluator-client/testing";
import { isRecord } from "evaluator-kit";
import { safeParse } from "zod/mini";

interface ContractBreach {
  readonly path: readonly PropertyKey[];
  /** The problem, without any text of the response. */
  readonly problem: string;
}

type Asked = EvaluationRequest["questions"];

/** Returns the rules of the contract that a body breaks as the answer to an exchange's request. */
export async function contractBreaches({ request, response }: Exchange, body: unknown) {
  if (response.status >= 300 || !isEvaluation(request.body)) return [];
  const { state, questions } = request.body;
  if (request.path.endsWith("/v1/systemone")) {
    return breachesOf(directTransport, { state, questions: renamedFromVendor(questions) }, body);
  }
  const issues = safeParse(evaluationResponseSchema, body).error?.issues ?? [];
  return issues.length > 0
    ? issues.map(({ path, message }) => breachAt(path, message, questions))
    : breachesOf(gatewayTransport, request.body, body);
}

/** Returns the rules by which the client rejects a body. */
async function breachesOf(
  transportOf: typeof directTransport | typeof gatewayTransport,
  request: EvaluationRequest,
  body: unknown,
): Promise<ContractBreach[]> {
  const fetch = async () => Response.json(body);
  const transport = transportOf({ fetch, apiKey: "none", env: {} });
  try {
    await createEvaluator({ transport, maxRetries: 0 }).evaluate(request);
    return [];
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
