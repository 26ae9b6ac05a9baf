import { printCount, printDuration, printMails, printUsd } from "../money/print-amounts.ts";
import type { RunTotals } from "../money/run-totals.ts";

/** How far a run is. */
export interface Progress {
  /** Mails to ask about. */
  readonly total: number;
  readonly elapsedMs: number;
  readonly totals: Readonly<Pick<RunTotals, "succeeded" | "failed" | "costUsd">>;
}

/** Says how far a run is, in one line: done, rate, time left, cost, errors. */
export function progressLine({ total, elapsedMs, totals }: Progress): string {
  const { succeeded, failed } = totals;
  const done = succeeded + failed;
  const perMs = elapsedMs > 0 ? done / elapsedMs : 0;
  const left = perMs > 0 ? `${printDuration((total - done) / perMs)} left` : "no answer yet";
  return [
    `${printCount(done)} of ${printMails(total)}`,
    `${(perMs * 1000).toFixed(1)} a second`,
    left,
    printUsd(totals.costUsd),
    `${printCount(failed)} failed`,
  ].join(" · ");
}
