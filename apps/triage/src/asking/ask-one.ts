import { EvaluatorError } from "evaluator-client";
import { requestFor } from "../job.ts";
import type { CallEnd } from "../journal/journal.ts";
import { plainText } from "../text/plain-text.ts";
import type { AskOptions } from "./ask-calls.ts";
import type { PlannedCall } from "./plan-calls.ts";

// In a batch, waiting for the service's limit is the work: no call gives up before a day is over.
const DEADLINE_MS = 86_400_000;

/** Asks about one mail, and tells the streak and the budget how it ended. */
export async function askOne(
  { mail: { id }, mail, key }: PlannedCall,
  { evaluator, job, budget, streak, signal }: AskOptions,
): Promise<CallEnd> {
  const request = requestFor(job, mail);
  try {
    const evaluation = await evaluator.evaluate(request, { signal, deadlineMs: DEADLINE_MS });
    streak.succeeded();
    budget.answered(evaluation);
    return { id, key, state: request.state, evaluation };
  } catch (error) {
    if (!(error instanceof EvaluatorError)) throw error;
    streak.failed(error);
    budget.failed();
    return { id, key, error: plainText(error.message) };
  }
}
