import { z } from "zod";
import type { Evaluation, EvaluationResponse, Timing } from "./evaluation.ts";
import { evaluationResponseSchema } from "./evaluation.ts";
import { InvalidResponseError } from "./errors.ts";
import { checkAnswers } from "./questions/check-answers.ts";
import type { ConfidenceFor } from "./questions/answers-for.ts";
import type { Questions } from "./questions/question.ts";
import { isRecord } from "./questions/record-of.ts";
import type { TransportReply } from "./transports/transport.ts";

/** The response body around the answers, which {@link checkAnswers} checks by itself. */
const envelopeSchema = evaluationResponseSchema.extend({ answers: z.custom(isRecord) });

/** The gateway's own metadata (contract section 2.5), as far as it is read here. */
const gatewayMetadataSchema = z.looseObject({
  marketCost: z.string().optional(),
  routing: z.unknown().optional(),
});
const routingSchema = z.looseObject({
  modelAttempts: z.array(
    z.looseObject({
      providerAttempts: z.array(
        z.looseObject({ success: z.boolean(), startTime: z.number(), endTime: z.number() }),
      ),
    }),
  ),
});

/**
 * Checks a reply against the questions asked.
 *
 * @throws InvalidResponseError or RefusalError when it does not answer exactly them.
 */
export function checkReply<TQuestions extends Questions>(
  reply: TransportReply,
  questions: TQuestions,
): EvaluationResponse<TQuestions> {
  const issue = envelopeSchema.safeParse(reply.response).error?.issues[0];
  if (issue !== undefined) {
    const where = issue.path.map(String).join(".") || "the body";
    const message = `The response breaks the contract at ${where}: ${issue.message}. It is not used; check the base URL and the model id.`;
    throw new InvalidResponseError(message, { questionId: null, rule: "body-shape" });
  }
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
  const gateway = gatewayMetadataSchema.safeParse(providerMetadata["gateway"]).data;
  return {
    answers,
    rounding,
    usage,
    warnings,
    providerMetadata,
    confidence: readConfidence(questions, providerMetadata),
    costUsd: readCost(gateway?.marketCost),
    modelId: reply.modelId,
    requestId: reply.requestId,
    timing: { ...timing, providerMs: readProviderMs(gateway?.routing) },
    raw: reply.raw,
  };
}

/** Confidence of choice and score questions, under whichever vendor the response names. */
function readConfidence<TQuestions extends Questions>(
  questions: TQuestions,
  providerMetadata: Record<string, unknown>,
): ConfidenceFor<TQuestions> {
  const { gateway: _, ...vendors } = providerMetadata;
  const given = Object.values(vendors)
    .map((vendor) => (isRecord(vendor) ? vendor["confidence"] : undefined))
    .find(isRecord);
  const entries = Object.entries(questions)
    .filter(([, question]) => question.type !== "boolean")
    .map(([id]) => [id, given && Object.hasOwn(given, id) ? toNumber(given[id]) : null]);
  return Object.fromEntries(entries) as ConfidenceFor<TQuestions>;
}

function readCost(marketCost: string | undefined): number | null {
  return marketCost === undefined || marketCost.trim() === "" ? null : toNumber(Number(marketCost));
}

function readProviderMs(routing: unknown): number | null {
  const attempts = routingSchema.safeParse(routing).data?.modelAttempts ?? [];
  const answered = attempts.flatMap((attempt) => attempt.providerAttempts).find((a) => a.success);
  return answered === undefined ? null : answered.endTime - answered.startTime;
}

function toNumber(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
