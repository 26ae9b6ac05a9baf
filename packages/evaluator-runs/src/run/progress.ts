import { type CliContext, createProgress } from "evaluator-kit";
import { printCount, printCounted, printDuration } from "../amounts.ts";
import type { RunTotals } from "../money/totals.ts";
import { repeat } from "./interruption.ts";

/** Shows the progress of a run in one line, until the result is called; a terminal is cleared then. */
export function showProgress(
  total: number,
  totals: RunTotals,
  context: Pick<CliContext, "clock" | "stderr"> & { readonly source: { readonly word: string } },
): () => void {
  const { clock, source } = context;
  const startedAt = clock.now();
  const progress = createProgress(context);
  const describe = () => {
    const { succeeded: succeededCount, failed: failedCount, failure } = totals;
    const doneCount = succeededCount + failedCount;
    const elapsedMs = clock.now() - startedAt;
    const perMs = elapsedMs > 0 ? doneCount / elapsedMs : 0;
    return [
      `${printCount(doneCount)} of ${printCounted(total, source.word)} (${Math.floor((100 * doneCount) / Math.max(1, total))} %)`,
      `${(perMs * 1000).toFixed(1)} a second`,
      perMs > 0 ? `${printDuration((total - doneCount) / perMs)} left` : "no answer yet",
      totals.describeCost(),
      `${printCount(failedCount)} failed${failure === null ? "" : `: ${failure}`}`,
    ].join(" · ");
  };
  const endShow = repeat(250, () => progress.show(describe), clock);
  return () => {
    endShow();
    progress.end();
  };
}
