import type { MissingOutcome } from "./asking/ask-missing.ts";
import type { PlannedCall } from "./asking/plan-calls.ts";
import { spentUsd } from "./money/budget.ts";
import { printCount, printDuration, printUsd } from "./money/print-amounts.ts";

/** Says in one line what a run came to: mails, calls asked again, tokens, dollars, time. */
export function describeRun(calls: readonly PlannedCall[], outcome: MissingOutcome): string {
  const { totals, elapsedMs } = outcome;
  const count = (status: PlannedCall["status"]) =>
    calls.filter((call) => call.status === status).length;
  const notes = [
    note(totals.failed, "failed"),
    note(count("answered"), "were answered already"),
    note(count("begun"), "were in flight when an earlier run ended and were asked again"),
    note(count("changed"), "were not in the journal as written and were asked again"),
  ].join("");
  return (
    `Answered: ${printCount(totals.succeeded)}${notes}; ${printCount(totals.inputTokens)} tokens, ` +
    `${printUsd(spentUsd(totals))}, ${printDuration(elapsedMs)}.\n`
  );
}

function note(count: number, what: string): string {
  return count === 0 ? "" : `, ${printCount(count)} ${what}`;
}
