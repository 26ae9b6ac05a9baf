import { hostname } from "node:os";
import process from "node:process";
import type { Clock } from "evaluator-kit";
import type { PostgresRuns } from "../postgres/index.ts";
import type { RunTotals } from "../run/cost.ts";

// Both chosen, not measured: `status` shows what is new each second, and a rate that does not jump.
const REPORT_MS = 1000;
const RATE_OVER_MS = 20_000;

/** Who reports, and of what. */
export interface ReportOptions {
  readonly runs: PostgresRuns;
  readonly run: number;
  readonly worker: string;
  readonly clock: Clock;
  readonly totals: Readonly<Pick<RunTotals, "succeeded" | "failed">>;
  readonly inFlight: () => number;
  /** Called when the run was stopped, by whichever worker. */
  readonly onStopped: () => void;
}

/** Reports each second that a worker is there, and reads whether its run goes on. */
export function startReports(options: ReportOptions): { readonly end: () => void } {
  const { runs, run, worker, clock, totals, inFlight, onStopped } = options;
  const name = `${hostname()}:${process.pid}`;
  const counts: { readonly atMs: number; readonly answered: number }[] = [];
  let cancel: (() => void) | null = null;
  const report = () => {
    const { succeeded: answered, failed } = totals;
    const atMs = clock.now();
    counts.push({ atMs, answered });
    while ((counts[0]?.atMs ?? atMs) < atMs - RATE_OVER_MS) counts.shift();
    const first = counts[0] ?? { atMs, answered };
    const seconds = (atMs - first.atMs) / 1000;
    const perSecond = seconds > 0 ? (answered - first.answered) / seconds : 0;
    const told = { worker, run, name, answered, failed, perSecond, inFlight: inFlight() };
    runs.report(told).then(
      ({ state }) => {
        if (state === "stopped") onStopped();
      },
      // A database that is away is told of by the answers that wait for it.
      () => {},
    );
    cancel = clock.schedule(REPORT_MS, report);
  };
  report();
  return { end: () => cancel?.() };
}
