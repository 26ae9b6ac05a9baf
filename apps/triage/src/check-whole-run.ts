import type { PlannedCall } from "./asking/plan-calls.ts";
import { InterruptedError, TriageError } from "./errors.ts";
import type { ResultsOptions } from "./give-results.ts";
import { plainText } from "./text/plain-text.ts";

/**
 * Makes sure that a run has asked all it was to ask.
 *
 * @throws TriageError that says why it has not, and how it goes on.
 */
export async function checkWholeRun(
  calls: readonly PlannedCall[],
  options: ResultsOptions,
): Promise<void> {
  const { journal, outcome, surroundings, job } = options;
  const { signal } = surroundings;
  const { finalError, isBudgetSpent } = outcome;
  if (!signal.aborted && finalError === null && !isBudgetSpent) return;
  const statuses = await journal.statusesOf(calls.map(({ key }) => key));
  const kept = statuses.filter((status) => status === "answered").length;
  const waysOn = `${kept} of ${calls.length} answers are kept; run the same command again for the rest.`;
  if (signal.aborted) throw new InterruptedError(`Interrupted; no results were written. ${waysOn}`);
  const reason =
    finalError === null
      ? `The run costs more than --max-cost ${job.run.maxCostUsd}, which is to be raised`
      : plainText(finalError.message);
  throw new TriageError(`Stopped: ${reason}\nNo results were written. ${waysOn}`);
}
