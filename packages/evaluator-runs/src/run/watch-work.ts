import { type CliContext, createProgress } from "evaluator-kit";
import { printCount, printCounted, printDuration } from "../amounts.ts";
import type { RunTotals } from "../money/totals.ts";
import { repeat, startDrain } from "./interruption.ts";

interface WatchContext extends Pick<CliContext, "clock" | "stderr" | "signal"> {
  readonly source: { readonly word: string };
}

/**
 * Shows the progress of a worker's work, and ends it gently on an interruption; returns its result, and the time it
 * took, in milliseconds.
 *
 * @param work - Takes the signal that ends the calls in flight.
 */
export async function watchWork<TResult>(
  { open, totals }: { readonly open: number; readonly totals: RunTotals },
  context: WatchContext,
  work: (signal: AbortSignal) => Promise<TResult>,
): Promise<{ readonly result: TResult; readonly elapsedMs: number }> {
  const { clock, signal } = context;
  const drain = startDrain(signal, context);
  const startedAt = clock.now();
  const hideProgress = showProgress(open, totals, context);
  try {
    const result = await work(drain.signal);
    return { result, elapsedMs: clock.now() - startedAt };
  } finally {
    hideProgress();
    drain.release();
  }
}

/** Shows the progress of a run in one line, until the result is called; a terminal is cleared then. */
export function showProgress(
  recordCount: number,
  totals: RunTotals,
  context: Omit<WatchContext, "signal">,
): () => void {
  const { clock, source } = context;
  const startedAt = clock.now();
  const progress = createProgress(context);
  const describeProgress = () => {
    const { succeeded: succeededCount, failed: failedCount, failure } = totals;
    const doneCount = succeededCount + failedCount;
    const elapsedMs = clock.now() - startedAt;
    const perMs = elapsedMs > 0 ? doneCount / elapsedMs : 0;
    return [
      `${printCount(doneCount)} of ${printCounted(recordCount, source.word)} (${Math.floor((100 * doneCount) / Math.max(1, recordCount))} %)`,
      `${(perMs * 1000).toFixed(1)} a second`,
      perMs > 0 ? `${printDuration((recordCount - doneCount) / perMs)} left` : "no answer yet",
      totals.describeCost(),
      `${printCount(failedCount)} failed${failure === null ? "" : `: ${failure}`}`,
    ].join(" · ");
  };
  const endShow = repeat(250, () => progress.show(describeProgress), clock);
  return () => {
    endShow();
    progress.end();
  };
}
