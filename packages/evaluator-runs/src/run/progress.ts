import { type Clock, type TextSink, truncateColumns } from "evaluator-kit";
import { printCount, printDuration, printMails } from "../amounts.ts";
import type { RunTotals } from "./cost.ts";

// A terminal is drawn over; a log gets a line every few seconds.
const TERMINAL_MS = 250;
const LOG_MS = 5000;
const CLEAR_LINE = "\r\u001b[K";

/** Shows how far a run is until the result is called; nothing of it stays on a terminal. */
export function showProgress(
  stderr: TextSink,
  { clock, total, totals }: { readonly clock: Clock } & Omit<Progress, "elapsedMs">,
): () => void {
  const startedAt = clock.now();
  const isTerminal = stderr.isTTY === true;
  let cancel: (() => void) | null = null;
  const show = () => {
    const line = progressLine({ total, totals, elapsedMs: clock.now() - startedAt });
    stderr.write(isTerminal ? CLEAR_LINE + fitted(line, stderr) : `${line}\n`);
    next();
  };
  const next = () => {
    cancel = clock.schedule(isTerminal ? TERMINAL_MS : LOG_MS, show);
  };
  next();
  return () => {
    cancel?.();
    if (isTerminal) stderr.write(CLEAR_LINE);
  };
}

// A line that wraps cannot be drawn over.
function fitted(line: string, { columns = Number.POSITIVE_INFINITY }: TextSink): string {
  return truncateColumns(line, columns - 1);
}

/** How far a run is. */
export interface Progress {
  /** Mails to ask about. */
  readonly total: number;
  readonly elapsedMs: number;
  readonly totals: Readonly<Pick<RunTotals, "succeeded" | "failed" | "describeCost">>;
}

/** Returns how far a run is, in one line: done, rate, time left, cost, errors. */
function progressLine({ total, elapsedMs, totals }: Progress): string {
  const { succeeded, failed } = totals;
  const done = succeeded + failed;
  const perMs = elapsedMs > 0 ? done / elapsedMs : 0;
  const left = perMs > 0 ? `${printDuration((total - done) / perMs)} left` : "no answer yet";
  return [
    `${printCount(done)} of ${printMails(total)}`,
    `${(perMs * 1000).toFixed(1)} a second`,
    left,
    totals.describeCost(),
    `${printCount(failed)} failed`,
  ].join(" · ");
}
