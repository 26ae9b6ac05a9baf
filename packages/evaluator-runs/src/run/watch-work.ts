import type { CliContext } from "evaluator-kit";
import type { RunTotals } from "../money/totals.ts";
import { startDrain } from "./interruption.ts";
import { showProgress } from "./progress.ts";

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
