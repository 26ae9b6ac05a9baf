import { type Clock, type TextSink, truncateColumns } from "evaluator-cli-kit";
import { type Progress, progressLine } from "./progress-line.ts";

// A terminal is drawn over; a log gets a line every few seconds.
const TERMINAL_MS = 250;
const LOG_MS = 5000;
const CLEAR_LINE = "\r\u001b[K";

/** Tells how far a run is until the result is called; nothing of it stays on a terminal. */
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
