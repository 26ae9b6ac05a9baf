import { InterruptedError, TriageError } from "../errors.ts";
import type { RunEstimate } from "./estimate-run.ts";
import { printUsd } from "./print-amounts.ts";

/** A run that is estimated above it needs a yes, when there is somebody to ask. */
const ASK_ABOVE_USD = 1;

/** What a run may cost, and who can be asked. */
export interface CostLimits {
  /** US dollars; Infinity for no bound. */
  readonly maxCostUsd: number;
  /** Whether the answer is yes already. */
  readonly yes: boolean;
  /** Aborts when the person interrupts instead of answering. */
  readonly signal: AbortSignal;
  /** Asks the person a yes/no question; null when nobody is there. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
}

/**
 * Makes sure, before anything is sent, that the run may cost what it is estimated to.
 *
 * @throws TriageError when it may not.
 */
export async function checkCost({ costUsd }: RunEstimate, limits: CostLimits): Promise<void> {
  const { maxCostUsd, yes, confirm, signal } = limits;
  if (costUsd > maxCostUsd) {
    const message = `The run would cost more than ${printUsd(maxCostUsd)} (--max-cost); nothing was sent.`;
    throw new TriageError(`${message} Raise it, or take fewer mails with --limit.`);
  }
  if (costUsd <= ASK_ABOVE_USD || yes || confirm === null) return;
  if (await confirm(`Spend about ${printUsd(costUsd)}? [y/N] `)) return;
  throw signal.aborted
    ? new InterruptedError("Interrupted; nothing was sent.", signal)
    : new TriageError("Nothing was sent.");
}
