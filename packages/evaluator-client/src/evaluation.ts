import * as z from "zod/mini";
import type { AnswerRoute } from "./answer-route.ts";
import { checkAnswers, listQuestions } from "./check-answers.ts";
import { type InvalidResponseError, RefusalError } from "./errors.ts";
import type { ResponseHeaders } from "./http/http-response.ts";
import { isRecord, toRecord, textAt, valueAt } from "./questions/json.ts";
import { type AnswersFor, answerSchema, type Kinds, type Questions } from "./questions/kinds.ts";
import type { Rounding } from "./questions/kinds/kind.ts";
import { readProviderMs } from "./provider-time.ts";
import { invalidBody } from "./questions/rejections.ts";
import type { TransportReply } from "./transports/transport.ts";

const roundingSchema = z.looseObject({
  probabilityDecimals: z.int().check(z.minimum(0), z.maximum(15)),
  scoreDecimals: z.int().check(z.minimum(0), z.maximum(15)),
});

const usageSchema = z.looseObject({
  inputTokens: z.int().check(z.minimum(0)),
  outputTokens: z.int().check(z.minimum(0)),
});
/** Tokens of one evaluation. */
export interface Usage {
  inputTokens: number;
  /** Those of the input that were read from a cache, if the service reports them. */
  cachedInputTokens?: number;
  outputTokens: number;
}

/** The body of an evaluation response in the gateway's form (contract section 2.3). */
export const evaluationResponseSchema = z.looseObject({
  answers: toRecord(answerSchema),
  rounding: z.nullish(roundingSchema),
  usage: z.nullish(usageSchema),
  warnings: z.nullish(z.array(z.unknown())),
  providerMetadata: z.nullish(toRecord(z.unknown())),
});
/** Confidence, 0..1 or null if the service gave none, for questions of the kinds that have one. */
export type ConfidenceFor<TQuestions extends Questions> = {
  -readonly [
    TId in keyof TQuestions as Kinds[TQuestions[TId]["type"]]["hasConfidence"] extends false
      ? never
      : TId
  ]: number | null;
};

/** The body of an evaluation response in the gateway's form (contract section 2.3). */
export interface EvaluationResponse<TQuestions extends Questions = Questions> {
  /** One checked answer for each question. */
  answers: AnswersFor<TQuestions>;
  /** Decimal places of the printed probabilities and scores. */
  rounding: Rounding;
  /** Tokens read and written, or null if the service does not report them. */
  usage: Usage | null;
  /** Warnings of the service, unchanged; the shape of an item is not documented. */
  warnings: unknown[];
  /** Routing, cost and vendor data (contract section 2.5), unchanged. */
  providerMetadata: Record<string, unknown>;
}

/** How long one evaluation took. */
export interface Timing {
  /** From the call to the checked answer, waits and retries included, in milliseconds. */
  totalMs: number;
  /** The provider's own time for the answer, in milliseconds, or null when not reported. */
  providerMs: number | null;
  /** Requests sent. */
  attempts: number;
}

/** A checked evaluation: the contract's response body, and fields that are derived from it. */
export interface Evaluation<
  TQuestions extends Questions = Questions,
> extends EvaluationResponse<TQuestions> {
  /** Confidence, 0..1 or null, for choice and score questions. */
  confidence: ConfidenceFor<TQuestions>;
  /** Price of this call in US dollars from `marketCost`, or null when not reported. */
  costUsd: number | null;
  /** The transport that was used, such as `gateway`. */
  transport: string;
  /** The model that answered, or null if unknown or if several did. */
  modelId: string | null;
  /** Who answered each question, if `escalate` is around the call. */
  route?: { [TId in keyof TQuestions]: AnswerRoute };
  /** The evaluation of each evaluator that answered, if `escalate` asked another one. */
  steps?: readonly Evaluation[];
  /** The service's id of the request, or null. */
  requestId: string | null;
  /** The response's HTTP status, or null without one. */
  status: number | null;
  /** The response's headers by lower-case name, a list for a header that was repeated. */
  headers: ResponseHeaders;
  /** How long it took. */
  timing: Timing;
  /** The unchanged response body. */
  raw: unknown;
}

const envelopeSchema = z.extend(evaluationResponseSchema, { answers: z.custom(isRecord) });

/** @throws InvalidResponseError or RefusalError if the reply does not answer exactly the questions. */
export function checkReply(
  reply: TransportReply,
  questions: Questions,
  transport: string | null = null,
): EvaluationResponse {
  const response = toResponse(reply.response);
  const { answers, rounding, usage, warnings } = response;
  try {
    checkAnswers({ questions, answers, rounding });
  } catch (error) {
    // What was paid for the rest of the answers goes with them.
    if (error instanceof RefusalError) {
      const confidence = toConfidence(reply, response, questions);
      const all = { modelId: reply.modelId, rounding, transport, confidence, warnings };
      const rest = transport === null ? null : all;
      Object.assign(error, { usage, costUsd: toCost(reply, response), rest });
    }
    throw error;
  }
  return response;
}

/** Returns a body with all its fields; a missing one beside the answers costs no paid answer. */
function toResponse(body: unknown): EvaluationResponse {
  // Ten times cheaper than the schema, which finds the path for the message.
  if (isEnvelope(body)) return body;
  const whole = isRecord(body) ? { ...body, ...listSideFields(body) } : body;
  if (!isEnvelope(whole)) throw brokenEnvelope(whole);
  return whole;
}

function listSideFields({ rounding, usage, warnings, providerMetadata }: Record<string, unknown>) {
  return {
    rounding: rounding ?? { probabilityDecimals: 2, scoreDecimals: 2 },
    usage: usage ?? null,
    warnings: warnings ?? [],
    providerMetadata: providerMetadata ?? {},
  };
}

function isEnvelope(response: unknown): response is EvaluationResponse {
  if (!isRecord(response)) return false;
  const { answers, rounding, usage, warnings, providerMetadata } = response;
  return (
    isRecord(answers) &&
    isRecord(rounding) &&
    isCount(rounding["probabilityDecimals"], 15) &&
    isCount(rounding["scoreDecimals"], 15) &&
    (usage === null ||
      (isRecord(usage) && isCount(usage["inputTokens"]) && isCount(usage["outputTokens"]))) &&
    Array.isArray(warnings) &&
    isRecord(providerMetadata)
  );
}

function isCount(value: unknown, most = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;
}

function brokenEnvelope(response: unknown): InvalidResponseError {
  const [issue] = (envelopeSchema.safeParse(response).error as z.core.$ZodError).issues;
  const path = issue?.path.map(String).join(".");
  const where = `${path ? `at ${path}` : "as a whole"} (${issue?.message})`;
  return invalidBody("an evaluation", where, "the base URL and the model id");
}

/** Puts a checked response and its metadata into one object. */
export function toEvaluation(
  response: EvaluationResponse,
  details: {
    reply: TransportReply;
    transport: string;
    questions: Questions;
    timing: Omit<Timing, "providerMs">;
  },
): Evaluation {
  const { reply, transport, questions, timing } = details;
  const { answers, rounding, usage, warnings, providerMetadata } = response;
  return {
    answers,
    rounding,
    usage,
    warnings,
    providerMetadata,
    confidence: toConfidence(reply, response, questions),
    costUsd: toCost(reply, response),
    transport,
    modelId: reply.modelId,
    requestId: reply.requestId,
    status: reply.status ?? null,
    headers: reply.headers ?? {},
    timing: { ...timing, providerMs: readProviderMs(providerMetadata["gateway"]) },
    raw: reply.raw,
  };
}

/** Reads the confidence of each question that has one; the response puts it under its vendor's name. */
function toConfidence(
  { definesConfidence = true }: TransportReply,
  { providerMetadata }: EvaluationResponse,
  questions: Questions,
): ConfidenceFor<Questions> {
  const listedQuestions = listQuestions(questions);
  const confidence = definesConfidence ? findConfidence(providerMetadata, listedQuestions) : {};
  const entries: [string, number | null][] = [];
  for (const { id, hasConfidence } of listedQuestions) {
    if (!hasConfidence) continue;
    const value = Object.hasOwn(confidence, id) ? confidence[id] : null;
    const isShare = typeof value === "number" && value >= 0 && value <= 1;
    entries.push([id, isShare ? value : null]);
  }
  return Object.fromEntries(entries);
}

function findConfidence(
  providerMetadata: Record<string, unknown>,
  listedQuestions: ReturnType<typeof listQuestions>,
): Record<string, unknown> {
  for (const name of Object.keys(providerMetadata)) {
    const confidence = valueAt(providerMetadata, name, "confidence");
    if (name === "gateway" || !isRecord(confidence)) continue;
    for (const { id, hasConfidence } of listedQuestions) {
      if (hasConfidence && Object.hasOwn(confidence, id)) return confidence;
    }
  }
  return {};
}

// Number() takes hexadecimal too.
const decimal = /^\s*\d+(?:\.\d+)?(?:e[-+]?\d+)?\s*$/i;

function toCost({ costUsd }: TransportReply, { providerMetadata }: EvaluationResponse) {
  if (costUsd !== undefined) return costUsd;
  const marketCost = textAt(providerMetadata, "gateway", "marketCost") ?? "";
  const gatewayUsd = decimal.test(marketCost) ? Number(marketCost) : Number.NaN;
  return Number.isFinite(gatewayUsd) ? gatewayUsd : null;
}
