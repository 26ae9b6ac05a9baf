import type { EvaluationRequest, Tracing } from "evaluator-client";
import type { Journal } from "../journal/journal.ts";
import type { FailureStreak } from "./failure-streak.ts";

/** What is told of each call. */
export interface KeepAnswersOptions {
  readonly journal: Journal;
  /** Under which key the answer to a request is kept. */
  readonly keys: WeakMap<EvaluationRequest, string>;
  readonly streak: FailureStreak;
}

/**
 * Keeps each answer the moment it is there, and not when its turn in the batch comes: what was
 * paid for and waits for an earlier one survives the end of the process.
 */
export function keepAnswers({ journal, keys, streak }: KeepAnswersOptions): Tracing {
  return async ({ request }, run) => {
    try {
      const evaluation = await run({});
      streak.succeeded();
      const key = keys.get(request);
      if (key !== undefined) journal.answer(key, evaluation);
      return evaluation;
    } catch (error) {
      streak.failed(error);
      throw error;
    }
  };
}
