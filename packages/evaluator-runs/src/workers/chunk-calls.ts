import { CliError, pause } from "evaluator-kit";
import { toKeptText } from "../journal/kept-answer.ts";
import { findUnpriced, type RunPrice } from "../money/price.ts";
import type { ChunkRecord, RunStore } from "../store/run-store.ts";
import type { RunInfo } from "../store/stored-runs.ts";
import { type CallOutcome, endsRun } from "../run/evaluate-one.ts";
import type { RunContext } from "../run/run-context.ts";
import { untilReached } from "./open-runs.ts";

// The machine that began the run may have been told the price.
/** Checks that the maximum cost of a run can be kept. @throws CliError if no price is known */
export function checkPriced({ run, state, maxCostUsd }: RunInfo, price: RunPrice): void {
  const unpriced = findUnpriced(price);
  if (state !== "open" || maxCostUsd === null || unpriced === null) return;
  throw new CliError(`The --max-cost of run ${run} ${unpriced.problem}. ${unpriced.advice}.`);
}

/** Returns the stored form of the outcome of a call. */
export function toEnd(
  { idx, key, state }: ChunkRecord,
  outcome: CallOutcome,
  costUsd: number | null,
) {
  if ("error" in outcome) {
    const { error, isRefusal, cause } = outcome;
    return { idx, error, isRefusal, isRetryable: cause.isRetryable, isFinal: endsRun(cause) };
  }
  const { evaluation } = outcome;
  const { inputTokens = 0 } = evaluation.usage ?? {};
  return { idx, key, state, evaluation: toKeptText(evaluation), inputTokens, costUsd };
}

const REPORTED_MS = 1000; // as workers report

/** Waits if workers of a run have calls in flight, which may cost less than the most; returns false if none has. */
export async function waitForWorkers({
  runs,
  info: { run },
  context,
}: {
  readonly runs: Pick<RunStore, "workers">;
  readonly info: Pick<RunInfo, "run">;
  readonly context: Pick<RunContext, "clock" | "signal">;
}): Promise<boolean> {
  const workers = await untilReached(() => runs.workers(run), context);
  if (workers.every(({ inFlight }) => inFlight === 0)) return false;
  await pause(REPORTED_MS, context);
  return true;
}
