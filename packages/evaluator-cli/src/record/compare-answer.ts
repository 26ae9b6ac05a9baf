import {
  createEvaluator,
  directTransport,
  type EvaluationRequest,
  evaluationResponseSchema,
  gatewayTransport,
  InvalidResponseError,
  RefusalError,
} from "evaluator-client";
import { type Exchange, pathText } from "evaluator-client/testing";
import { isRecord } from "evaluator-kit";
import * as z from "zod/mini";
import type { LiveCall } from "./live-calls.ts";

type Path = readonly PropertyKey[];

/** A difference of an answer from its exchange or from the contract; it holds no value. */
interface Difference {
  readonly kind: "missing" | "new" | "type" | "contract";
  /** Such as `response.body.usage`. */
  readonly path: string;
  /** Such as "number", "number became string" or "breaks the rule probabilities-sum". */
  readonly detail: string;
}

/**
 * Returns the differences of an answer to its exchange and the contract, such as
 * `new      response.body.usage.cachedTokens (number)`.
 */
export async function findDifferences(
  { exchange, samples }: LiveCall,
  liveResponse: Exchange["response"],
) {
  const sampleShapes = samples.map(({ response }) => pickComparable(exchange, response));
  const shapeDifferences = compareShapes(sampleShapes, pickComparable(exchange, liveResponse), [
    "response",
  ]);
  const paths = new Set(shapeDifferences.map(({ path }) => path));
  const breaches = await findContractBreaches(exchange, liveResponse.body);
  return [...shapeDifferences, ...breaches.filter(({ path }) => !paths.has(path))].map(
    ({ kind, path, detail }) => `${kind.padEnd(8)} ${path} (${detail})`,
  );
}

/** Only the headers that the exchange lists: proxies on the way add others. */
function pickComparable({ response }: Exchange, { headers, body }: Exchange["response"]) {
  const headerEntries = Object.entries(headers).filter(([name]) =>
    Object.hasOwn(response.headers, name),
  );
  return { headers: Object.fromEntries(headerEntries), body };
}

/**
 * Compares the keys and types of a value with those of its samples, never the values. A key that only
 * some samples have is optional. The items of an array are samples of each other; their number is free.
 */
export function compareShapes(
  samples: readonly unknown[],
  actual: unknown,
  path: Path,
): Difference[] {
  const actualType = toType(actual);
  if (samples.length === 0) return [{ kind: "new", path: pathText(path), detail: actualType }];
  const alikeSamples = samples.filter((sample) => toType(sample) === actualType);
  if (alikeSamples.length === 0) {
    const detail = `${listTypes(samples)} became ${actualType}`;
    return [{ kind: "type", path: pathText(path), detail }];
  }
  if (Array.isArray(actual)) {
    return actual.flatMap((item, index) =>
      compareShapes(alikeSamples.flat(), item, [...path, index]),
    );
  }
  if (!isRecord(actual)) return [];
  const entriesByKey = Map.groupBy(
    alikeSamples.flatMap((sample) => Object.entries(sample as object)),
    ([key]) => key,
  );
  return [...new Set([...entriesByKey.keys(), ...Object.keys(actual)])].flatMap(
    (key): Difference[] => {
      const sampleValues = (entriesByKey.get(key) ?? []).map(([, value]): unknown => value);
      const keyPath = [...path, key];
      if (Object.hasOwn(actual, key)) return compareShapes(sampleValues, actual[key], keyPath);
      if (sampleValues.length < alikeSamples.length) return [];
      return [{ kind: "missing", path: pathText(keyPath), detail: listTypes(sampleValues) }];
    },
  );
}

function listTypes(values: readonly unknown[]): string {
  return [...new Set(values.map(toType))].join(" or ");
}

function toType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

// The client can do without these fields of contract 2.5.
const gatewayBodySchema = z.extend(evaluationResponseSchema, {
  providerMetadata: z.looseObject({
    gateway: z.looseObject({
      routing: z.looseObject({}),
      marketCost: z.string(),
      generationId: z.string(),
    }),
  }),
});

/** Returns the rules of the contract that a body breaks as the answer to an exchange's request. */
export async function findContractBreaches(
  { request, response }: Exchange,
  body: unknown,
): Promise<Difference[]> {
  if (response.status >= 300 || !isEvaluationRequest(request.body)) return [];
  const { state, questions } = request.body;
  const isDirect = request.path.endsWith("/v1/systemone");
  const issues = isDirect ? [] : (z.safeParse(gatewayBodySchema, body).error?.issues ?? []);
  if (issues.length > 0) {
    return issues.map(({ path, message }) => toBreach(path, message, questions));
  }
  const fetch = async () => Response.json(body);
  const makeTransport = isDirect ? directTransport : gatewayTransport;
  const transport = makeTransport({ fetch, apiKey: "none", env: {} });
  const ownRequest = { state, questions: isDirect ? renamedFromVendor(questions) : questions };
  try {
    await createEvaluator({ transport, maxRetries: 0 }).evaluate(ownRequest);
    return [];
  } catch (error) {
    if (error instanceof RefusalError) {
      const reason = "the model declined";
      return error.questionIds.map((questionId) =>
        toBreach(["answers", questionId], reason, questions),
      );
    }
    if (!(error instanceof InvalidResponseError)) throw error;
    const { questionId, rule, message } = error;
    // The message names the path, and no text of the server.
    if (questionId === null) return [toBreach([], message, questions)];
    return [toBreach(["answers", questionId], `breaks the rule ${rule}`, questions)];
  }
}

type Asked = EvaluationRequest["questions"];

/** Returns a breach at a path in the body, without the names that the service chose for answers. */
function toBreach(path: Path, detail: string, questions: Asked): Difference {
  const [firstKey, id = ""] = path;
  const knownPath =
    firstKey === "answers" ? path.slice(0, Object.hasOwn(questions, id) ? 3 : 1) : path;
  return { kind: "contract", path: pathText(["response", "body", ...knownPath]), detail };
}

/** Returns the vendor's questions (contract 2.6) with the client's names of their types. */
function renamedFromVendor(questions: Record<string, object>): Asked {
  const entries = Object.entries(questions).map(([id, question]) => {
    const isBoolean = "type" in question && question.type === "noul";
    return [id, isBoolean ? { ...question, type: "boolean" } : question];
  });
  return Object.fromEntries(entries) as Asked;
}

function isEvaluationRequest(body: unknown): body is EvaluationRequest {
  return isRecord(body) && "state" in body && "questions" in body;
}
