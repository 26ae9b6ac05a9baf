import type { Clock } from "../clock.ts";
import type { TextSink } from "../surroundings.ts";
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
    stderr.write(isTerminal ? CLEAR_LINE + line : `${line}\n`);
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
