import { type CliContext, truncateColumns } from "evaluator-kit";
import { printCount, printCounted, printDuration } from "../amounts.ts";
import type { RunTotals } from "./cost.ts";
import { repeat } from "./interruption.ts";

// A terminal is drawn over; a log gets few lines.
const TERMINAL_MS = 250;
const LOG_MS = 10_000;
const CLEAR_LINE = "\r\u001b[K";

/** Shows the progress of a run in one line, until the result is called; a terminal is cleared then. */
export function showProgress(
  total: number,
  totals: RunTotals,
  {
    clock,
    stderr,
    source: { word },
  }: Pick<CliContext, "clock" | "stderr"> & { readonly source: { readonly word: string } },
): () => void {
  const startedAt = clock.now();
  const isTerminal = stderr.isTTY === true;
  const { columns = Number.POSITIVE_INFINITY } = stderr;
  const show = () => {
    const { succeeded, failed, failure } = totals;
    const done = succeeded + failed;
    const elapsedMs = clock.now() - startedAt;
    const perMs = elapsedMs > 0 ? done / elapsedMs : 0;
    const line = [
      `${printCount(done)} of ${printCounted(total, word)}`,
      `${(perMs * 1000).toFixed(1)} a second`,
      perMs > 0 ? `${printDuration((total - done) / perMs)} left` : "no answer yet",
      totals.describeCost(),
      `${printCount(failed)} failed${failure === null ? "" : `: ${failure}`}`,
    ].join(" · ");
    // A line that wraps cannot be drawn over.
    stderr.write(isTerminal ? CLEAR_LINE + truncateColumns(line, columns - 1) : `${line}\n`);
  };
  const endShow = repeat(isTerminal ? TERMINAL_MS : LOG_MS, show, clock);
  return () => {
    endShow();
    if (isTerminal) stderr.write(CLEAR_LINE);
  };
}
