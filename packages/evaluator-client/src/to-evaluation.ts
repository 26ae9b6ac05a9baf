import * as z from "zod/mini";
import { InvalidResponseError } from "./errors.ts";
import {
  type Evaluation,
  type EvaluationResponse,
  evaluationResponseSchema,
  type Timing,
} from "./evaluation.ts";
import { checkAnswers } from "./questions/check-answers.ts";
import { perQuestions } from "./questions/request.ts";
import { type ConfidenceFor, questionKinds, type Questions } from "./questions/kinds.ts";
import { isRecord, listAt, textAt, valueAt } from "./questions/json.ts";
import type { TransportReply } from "./transports/transport.ts";

const envelopeSchema = z.extend(evaluationResponseSchema, { answers: z.custom(isRecord) });

/** @throws InvalidResponseError or RefusalError if the reply does not answer exactly the questions. */
export function checkReply<TQuestions extends Questions>(
  reply: TransportReply,
  questions: TQuestions,
): EvaluationResponse<TQuestions> {
  // Ten times cheaper than the schema, which finds the path for the message.
  if (!isEnvelope(reply.response)) throw brokenEnvelope(reply.response);
  const response = reply.response as EvaluationResponse<TQuestions>;
  checkAnswers({ questions, answers: response.answers, rounding: response.rounding });
  return response;
}

function isEnvelope(response: unknown): boolean {
  if (!isRecord(response)) return false;
  const { answers, rounding, usage, warnings, providerMetadata } = response;
  return (
    isRecord(answers) &&
    isRecord(rounding) &&
    isCount(rounding["probabilityDecimals"], 15) &&
    isCount(rounding["scoreDecimals"], 15) &&
    isRecord(usage) &&
    isCount(usage["inputTokens"], Number.MAX_SAFE_INTEGER) &&
    isCount(usage["outputTokens"], Number.MAX_SAFE_INTEGER) &&
    Array.isArray(warnings) &&
    isRecord(providerMetadata)
  );
}

function isCount(value: unknown, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;
}

function brokenEnvelope(response: unknown): InvalidResponseError {
  const [issue] = (envelopeSchema.safeParse(response).error as z.core.$ZodError).issues;
  const where = issue?.path.map(String).join(".") || "the body";
  const message = `The response breaks the contract at ${where}: ${issue?.message}. It is not used; check the base URL and the model id.`;
  return new InvalidResponseError(message, { questionId: null, rule: "body-shape" });
}

/** Puts a checked response and its metadata into one object. */
export function toEvaluation<TQuestions extends Questions>(
  response: EvaluationResponse<TQuestions>,
  details: {
    reply: TransportReply;
    transport: string;
    questions: TQuestions;
    timing: Omit<Timing, "providerMs">;
  },
): Evaluation<TQuestions> {
  const { reply, transport, questions, timing } = details;
  const { answers, rounding, usage, warnings, providerMetadata } = response;
  const gateway = providerMetadata["gateway"];
  const hasConfidence = reply.definesConfidence !== false;
  return {
    answers,
    rounding,
    usage,
    warnings,
    providerMetadata,
    confidence: readConfidence(questions, hasConfidence ? providerMetadata : {}),
    costUsd: reply.costUsd === undefined ? readCost(gateway) : reply.costUsd,
    transport,
    modelId: reply.modelId,
    requestId: reply.requestId,
    headers: reply.headers ?? {},
    timing: { ...timing, providerMs: readProviderMs(gateway) },
    raw: reply.raw,
  };
}

const idsWithConfidence = perQuestions((questions): readonly string[] =>
  Object.keys(questions).filter((id) => {
    const question = questions[id];
    return question !== undefined && questionKinds[question.type].hasConfidence;
  }),
);

/** Reads the confidence of each question that has one; the response puts it under its vendor's name. */
function readConfidence<TQuestions extends Questions>(
  questions: TQuestions,
  providerMetadata: Record<string, unknown>,
): ConfidenceFor<TQuestions> {
  const ids = idsWithConfidence(questions);
  const given = findConfidence(providerMetadata, ids);
  const entries: [string, number | null][] = [];
  for (const id of ids) {
    const value = Object.hasOwn(given, id) ? given[id] : null;
    const isShare = typeof value === "number" && value >= 0 && value <= 1;
    entries.push([id, isShare ? value : null]);
  }
  return Object.fromEntries(entries) as ConfidenceFor<TQuestions>;
}

function findConfidence(
  providerMetadata: Record<string, unknown>,
  ids: readonly string[],
): Record<string, unknown> {
  for (const name of Object.keys(providerMetadata)) {
    const confidence = valueAt(providerMetadata, name, "confidence");
    if (name === "gateway" || !isRecord(confidence)) continue;
    for (const id of ids) if (Object.hasOwn(confidence, id)) return confidence;
  }
  return {};
}

// Number() takes hexadecimal too.
const decimal = /^\s*\d+(?:\.\d+)?(?:e[-+]?\d+)?\s*$/i;

function readCost(gateway: unknown): number | null {
  const marketCost = textAt(gateway, "marketCost") ?? "";
  const costUsd = decimal.test(marketCost) ? Number(marketCost) : Number.NaN;
  return Number.isFinite(costUsd) ? costUsd : null;
}

/** The time of the provider attempt that answered (contract section 2.5). */
function readProviderMs(gateway: unknown): number | null {
  for (const modelAttempt of listAt(gateway, "routing", "modelAttempts")) {
    for (const attempt of listAt(modelAttempt, "providerAttempts")) {
      if (!isRecord(attempt) || attempt["success"] !== true) continue;
      const { startTime, endTime } = attempt;
      const areTimes = typeof startTime === "number" && typeof endTime === "number";
      const elapsedMs = areTimes ? endTime - startTime : Number.NaN;
      return Number.isFinite(elapsedMs) && elapsedMs >= 0 ? elapsedMs : null;
    }
  }
  return null;
}
