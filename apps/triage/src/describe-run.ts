import type { MissingOutcome } from "./asking/ask-missing.ts";
import type { CallPlan } from "./asking/plan-calls.ts";
import { recordLabel } from "./input/mail.ts";
import { printCount, printDuration, printUsd } from "./money/print-amounts.ts";

const FAILURES_SHOWN = 10;

/** Says in one line what a run came to: mails, calls asked again, tokens, dollars, time. */
export function describeRun(plan: CallPlan, outcome: MissingOutcome): string {
  const { totals, elapsedMs } = outcome;
  const notes = [
    note(totals.failed, "failed"),
    note(plan.count("answered"), "answered already"),
    note(plan.count("begun"), "in flight when an earlier run ended and asked again"),
    note(plan.count("changed"), "not in the journal as written and asked again"),
  ].join("");
  return (
    `Answered: ${printCount(totals.succeeded)}${notes}; ${printCount(totals.inputTokens)} tokens, ` +
    `${printUsd(totals.costUsd)}, ${printDuration(elapsedMs)}.\n`
  );
}

/** Names the first mails that failed, one a line, and counts the rest. */
export function describeFailures({ failures }: MissingOutcome): string {
  const failed = [...failures.values()].toSorted((one, other) => one.index - other.index);
  const lines = failed
    .slice(0, FAILURES_SHOWN)
    .map(({ index, id, error }) => `Failed: ${recordLabel(index, { id })}: ${error}\n`);
  const more = failed.length - lines.length;
  return lines.join("") + (more > 0 ? `Failed: ${printCount(more)} more\n` : "");
}

function note(count: number, what: string): string {
  return count === 0 ? "" : `, ${printCount(count)} ${what}`;
}
