import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import process from "node:process";
import type { CliContext } from "evaluator-kit";
import type { PostgresRuns, RunInfo } from "../postgres/index.ts";
import type { RunTotals } from "../run/cost.ts";
import { repeat } from "../run/interruption.ts";

// Both chosen, not measured: `status` shows news each second, and a rate that does not jump.
const REPORT_MS = 1000;
const RATE_OVER_MS = 20_000;

interface Reported {
  readonly runs: PostgresRuns;
  readonly info: RunInfo;
  readonly totals: RunTotals;
  readonly context: Pick<CliContext, "clock">;
}

/**
 * Reports each second that a worker is there, until the result is called.
 *
 * @param onStop - Called once the run was stopped.
 */
export function startReports(
  { runs, info: { run }, totals, context: { clock } }: Reported,
  inFlight: () => number,
  onStop: () => void,
): () => Promise<void> {
  const [worker, name] = [randomUUID(), `${hostname()}:${process.pid}`];
  const counts: { readonly atMs: number; readonly answered: number }[] = [];
  const report = () => {
    const { succeeded: answered, failed } = totals;
    const atMs = clock.now();
    counts.push({ atMs, answered });
    while ((counts[0]?.atMs ?? atMs) < atMs - RATE_OVER_MS) counts.shift();
    const first = counts[0] ?? { atMs, answered };
    const seconds = (atMs - first.atMs) / 1000;
    const perSecond = seconds > 0 ? (answered - first.answered) / seconds : 0;
    runs.report({ worker, run, name, answered, failed, perSecond, inFlight: inFlight() }).then(
      ({ state }) => void (state === "stopped" && onStop()),
      () => {}, // the answers that wait for the database report the trouble
    );
  };
  report();
  const endReports = repeat(REPORT_MS, report, clock);
  return async () => {
    endReports();
    await runs.leave(worker).catch(() => {});
  };
}
