import type { Evaluation } from "../evaluation.ts";
import type { JsonObject } from "../questions/json.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import type { EvaluatorError } from "../errors.ts";
import type { Questions } from "../questions/question.ts";

/** One request's outcome, with its place in the input from 0. */
export type BatchItem<TQuestions extends Questions = Questions> =
  | { index: number; status: "succeeded"; evaluation: Evaluation<TQuestions> }
  | { index: number; status: "failed"; error: EvaluatorError };

/** What a batch has done so far. */
export interface BatchTotals {
  /** Requests answered. */
  succeeded: number;
  /** Requests given up. */
  failed: number;
  /** Input tokens of the answered requests. */
  inputTokens: number;
  /** Output tokens of the answered requests. */
  outputTokens: number;
  /** Price of the answered requests that report one, in US dollars. */
  costUsd: number;
  /** How long the longest wait that has begun still lasts, in milliseconds, as far as known; else 0. */
  waitMs: number;
}

/** Outcomes, one for each request, while later ones are still being asked. */
export interface EvaluationBatch<TQuestions extends Questions = Questions> extends AsyncGenerator<
  BatchItem<TQuestions>,
  undefined
> {
  /** The outcomes so far, those included that wait to be taken. */
  readonly totals: Readonly<BatchTotals>;
}

/** The requests of a batch; it may be endless, and is read only as far as needed. */
export type RequestSource<TQuestions extends Questions = Questions, TState = string | JsonObject> =
  | Iterable<EvaluationRequest<TQuestions, TState>>
  | AsyncIterable<EvaluationRequest<TQuestions, TState>>;
