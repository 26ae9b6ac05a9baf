import { createEvaluator, type EvaluatorError } from "evaluator-client";
import type { Job } from "../job.ts";
import type { Journal } from "../journal/journal.ts";
import { Budget } from "../money/budget.ts";
import type { Price } from "../money/price.ts";
import { RunTotals } from "../money/run-totals.ts";
import { showProgress } from "../progress/show-progress.ts";
import type { Surroundings } from "../surroundings.ts";
import { askCalls, type CallFailure } from "./ask-calls.ts";
import { startDrain } from "./drain.ts";
import { FailureStreak } from "./failure-streak.ts";
import type { CallPlan } from "./plan-calls.ts";

// A service that is busy for a minute must not cost a mail its answer.
const MAX_RETRIES = 6;

/** What asking needs. */
export interface AskMissingOptions {
  readonly job: Job;
  readonly journal: Journal;
  readonly price: Price;
  readonly surroundings: Surroundings;
}

/** What the asking came to. */
export interface MissingOutcome {
  readonly totals: RunTotals;
  /** What went wrong, by the key of the answer that is missing. */
  readonly failures: ReadonlyMap<string, CallFailure>;
  readonly elapsedMs: number;
  /** The failure after which nothing more was asked, or null. */
  readonly finalError: EvaluatorError | null;
  /** Whether the most the run may cost kept calls back. */
  readonly isBudgetSpent: boolean;
}

/** Asks for the answers that are missing: keeps each, shows how far it is, ends gently when told. */
export async function askMissing(
  plan: CallPlan,
  { job, journal, price, surroundings }: AskMissingOptions,
): Promise<MissingOutcome> {
  const { clock, signal: interruption, stderr } = surroundings;
  const evaluator = createEvaluator({ transport: job.transport, maxRetries: MAX_RETRIES });
  const totals = new RunTotals(price);
  const budget = new Budget(job.run.maxCostUsd, price);
  const streak = new FailureStreak();
  const drain = startDrain(interruption, surroundings);
  const startedAt = clock.now();
  const hideProgress = showProgress(stderr, {
    clock,
    total: plan.length - plan.count("answered"),
    totals,
  });
  try {
    const { signal } = drain;
    const asked = { evaluator, journal, job, totals, budget, streak, interruption, signal };
    const failures = await askCalls(plan, asked);
    const elapsedMs = clock.now() - startedAt;
    const { finalError } = streak;
    return { totals, failures, elapsedMs, finalError, isBudgetSpent: budget.isSpent };
  } finally {
    hideProgress();
    drain.release();
  }
}
