import type { CallPlan } from "./asking/plan-calls.ts";
import { InterruptedError, TriageError } from "./errors.ts";
import type { ResultsOptions } from "./give-results.ts";
import { plainText } from "./text/plain-text.ts";

/**
 * Makes sure that a run has asked all it was to ask.
 *
 * @throws TriageError that says why it has not, and how it goes on.
 */
export function checkWholeRun(
  plan: CallPlan,
  { outcome, surroundings, job }: ResultsOptions,
): void {
  const { signal } = surroundings;
  const { finalError, isBudgetSpent } = outcome;
  if (!signal.aborted && finalError === null && !isBudgetSpent) return;
  const kept = plan.count("answered") + outcome.totals.succeeded;
  const waysOn = `${kept} of ${plan.length} answers are kept; run the same command again for the rest.`;
  if (signal.aborted) throw new InterruptedError(`Interrupted; no results were written. ${waysOn}`);
  const reason =
    finalError === null
      ? `The run costs more than --max-cost ${job.run.maxCostUsd}, which is to be raised`
      : plainText(finalError.message);
  throw new TriageError(`Stopped: ${reason}\nNo results were written. ${waysOn}`);
}
