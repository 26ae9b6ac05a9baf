import * as z from "zod/mini";
import type { ResponseHeaders } from "./http/http-client.ts";
import {
  type AnswersFor,
  answerSchema,
  type ConfidenceFor,
  type Questions,
} from "./questions/kinds.ts";
import type { Rounding } from "./questions/kinds/kind.ts";
import { recordOf } from "./questions/json.ts";

const roundingSchema = z.looseObject({
  probabilityDecimals: z.int().check(z.minimum(0), z.maximum(15)),
  scoreDecimals: z.int().check(z.minimum(0), z.maximum(15)),
});

/** Tokens of one evaluation. */
const usageSchema = z.looseObject({
  inputTokens: z.int().check(z.minimum(0)),
  outputTokens: z.int().check(z.minimum(0)),
});
/** Tokens of one evaluation. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
}

/** The body of an evaluation response in the gateway's form (contract section 2.3). */
export const evaluationResponseSchema = z.looseObject({
  answers: recordOf(answerSchema),
  rounding: roundingSchema,
  usage: usageSchema,
  warnings: z.array(z.unknown()),
  providerMetadata: recordOf(z.unknown()),
});
/** The body of an evaluation response in the gateway's form (contract section 2.3). */
export interface EvaluationResponse<TQuestions extends Questions = Questions> {
  /** One checked answer for each question. */
  answers: AnswersFor<TQuestions>;
  /** Decimal places of the printed probabilities and scores. */
  rounding: Rounding;
  /** Tokens read and written. */
  usage: Usage;
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
  /** The model that answered, or null if unknown. */
  modelId: string | null;
  /** The service's id of the request, or null. */
  requestId: string | null;
  /** The response's headers by lower-case name, a list for a header that was repeated. */
  headers: ResponseHeaders;
  /** How long it took. */
  timing: Timing;
  /** The unchanged response body. */
  raw: unknown;
}
