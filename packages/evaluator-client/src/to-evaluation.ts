import type { Evaluation, EvaluationResponse, Timing } from "./evaluation.ts";
import { checkEnvelope } from "./check-envelope.ts";
import { checkAnswers } from "./questions/check-answers.ts";
import { perQuestions } from "./questions/constant-questions.ts";
import type { ConfidenceFor } from "./questions/answers-for.ts";
import type { Questions } from "./questions/question.ts";
import { isRecord } from "./questions/record-of.ts";
import type { TransportReply } from "./transports/transport.ts";
import { listAt, textAt, valueAt } from "./value-at.ts";

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
  details: { reply: TransportReply; questions: TQuestions; timing: Omit<Timing, "providerMs"> },
): Evaluation<TQuestions> {
  const { reply, questions, timing } = details;
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
  const given = findConfidence(providerMetadata);
  const entries = weighedIn(questions).map((id): [string, number | null] => [
    id,
    Object.hasOwn(given, id) ? toNumber(given[id]) : null,
  ]);
  return Object.fromEntries(entries) as ConfidenceFor<TQuestions>;
}

/** The questions that have a confidence. */
const weighedIn = perQuestions((questions): readonly string[] =>
  Object.keys(questions).filter((id) => questions[id]?.type !== "boolean"),
);

function findConfidence(providerMetadata: Record<string, unknown>): Record<string, unknown> {
  for (const name of Object.keys(providerMetadata)) {
    const confidence = valueAt(providerMetadata, name, "confidence");
    if (name !== "gateway" && isRecord(confidence)) return confidence;
  }
  return {};
}

function readCost(gateway: unknown): number | null {
  const marketCost = textAt(gateway, "marketCost") ?? "";
  const cost = marketCost.trim() === "" ? null : toNumber(Number(marketCost));
  return cost === null || cost < 0 ? null : cost; // no price is below nothing
}

/** The time of the provider attempt that answered (contract section 2.5). */
function readProviderMs(gateway: unknown): number | null {
  for (const modelAttempt of listAt(gateway, "routing", "modelAttempts")) {
    for (const attempt of listAt(modelAttempt, "providerAttempts")) {
      if (!isRecord(attempt) || attempt["success"] !== true) continue;
      const startedAt = toNumber(attempt["startTime"]);
      const endedAt = toNumber(attempt["endTime"]);
      return startedAt === null || endedAt === null ? null : endedAt - startedAt;
    }
  }
  return null;
}

function toNumber(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
