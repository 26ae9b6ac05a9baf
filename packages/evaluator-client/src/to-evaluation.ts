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

/**
 * Checks a reply against the questions asked.
 *
 * @throws InvalidResponseError or RefusalError when it does not answer exactly them.
 */
export function checkReply<TQuestions extends Questions>(
  reply: TransportReply,
  questions: TQuestions,
): EvaluationResponse<TQuestions> {
  checkEnvelope(reply.response);
  const response = reply.response as EvaluationResponse<TQuestions>;
  checkAnswers({ questions, answers: response.answers, rounding: response.rounding });
  return response;
}

/** Puts a checked response, and what a caller would otherwise dig for, into one object. */
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
  return {
    answers,
    rounding,
    usage,
    warnings,
    providerMetadata,
    confidence: readConfidence(
      questions,
      reply.definesConfidence === false ? {} : providerMetadata,
    ),
    costUsd: reply.costUsd === undefined ? readCost(gateway) : reply.costUsd,
    transport,
    modelId: reply.modelId,
    requestId: reply.requestId,
    headers: reply.headers ?? {},
    timing: { ...timing, providerMs: readProviderMs(gateway) },
    raw: reply.raw,
  };
}

/** Confidence of choice and score questions, under whichever vendor the response names. */
function readConfidence<TQuestions extends Questions>(
  questions: TQuestions,
  providerMetadata: Record<string, unknown>,
): ConfidenceFor<TQuestions> {
  const ids = weighedIn(questions);
  const given = findConfidence(providerMetadata, ids);
  const entries = ids.map((id): [string, number | null] => [
    id,
    Object.hasOwn(given, id) ? toShare(given[id]) : null,
  ]);
  return Object.fromEntries(entries) as ConfidenceFor<TQuestions>;
}

/** The questions that have a confidence. */
const weighedIn = perQuestions((questions): readonly string[] =>
  Object.entries(questions)
    .filter(([, { type }]) => questionKinds[type].hasConfidence)
    .map(([id]) => id),
);

function findConfidence(
  providerMetadata: Record<string, unknown>,
  ids: readonly string[],
): Record<string, unknown> {
  for (const name of Object.keys(providerMetadata)) {
    const confidence = valueAt(providerMetadata, name, "confidence");
    if (name === "gateway" || !isRecord(confidence)) continue;
    if (ids.some((id) => Object.hasOwn(confidence, id))) return confidence;
  }
  return {};
}

function toShare(value: unknown): number | null {
  const share = toNumber(value);
  return share !== null && share >= 0 && share <= 1 ? share : null;
}

// Number() takes hexadecimal too.
const decimal = /^\s*\d+(?:\.\d+)?(?:e[-+]?\d+)?\s*$/i;

function readCost(gateway: unknown): number | null {
  const marketCost = textAt(gateway, "marketCost") ?? "";
  return decimal.test(marketCost) ? toNumber(Number(marketCost)) : null;
}

/** The time of the provider attempt that answered (contract section 2.5). */
function readProviderMs(gateway: unknown): number | null {
  for (const modelAttempt of listAt(gateway, "routing", "modelAttempts")) {
    for (const attempt of listAt(modelAttempt, "providerAttempts")) {
      if (!isRecord(attempt) || attempt["success"] !== true) continue;
      const startedAt = toNumber(attempt["startTime"]);
      const endedAt = toNumber(attempt["endTime"]);
      const isTime = startedAt !== null && endedAt !== null && endedAt >= startedAt;
      return isTime ? endedAt - startedAt : null;
    }
  }
  return null;
}

function toNumber(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

const envelopeSchema = z.extend(evaluationResponseSchema, { answers: z.custom(isRecord) });

/**
 * Rejects a response body whose parts around the answers break the contract (section 2.3).
 *
 * @throws InvalidResponseError naming the path.
 */
export function checkEnvelope(response: unknown): void {
  // The schema says what is wrong; that nothing is can be seen at a tenth of its cost.
  if (isEnvelope(response)) return;
  const [issue] = (envelopeSchema.safeParse(response).error as z.core.$ZodError).issues;
  const where = issue?.path.map(String).join(".") || "the body";
  const message = `The response breaks the contract at ${where}: ${issue?.message}. It is not used; check the base URL and the model id.`;
  throw new InvalidResponseError(message, { questionId: null, rule: "body-shape" });
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
