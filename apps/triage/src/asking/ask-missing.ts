import { createEvaluator, type EvaluationRequest, type EvaluatorError } from "evaluator-client";
import type { Job } from "../job.ts";
import type { Journal } from "../journal/journal.ts";
import { Budget } from "../money/budget.ts";
import { showProgress } from "../progress/show-progress.ts";
import type { Surroundings } from "../surroundings.ts";
import { askCalls, type AskOutcome } from "./ask-calls.ts";
import { startDrain } from "./drain.ts";
import { FailureStreak } from "./failure-streak.ts";
import { keepAnswers } from "./keep-answers.ts";
import type { PlannedCall } from "./plan-calls.ts";

// A service that is busy for a minute must not cost a mail its answer.
const MAX_RETRIES = 6;

/** What asking needs. */
export interface AskMissingOptions {
  readonly job: Job;
  readonly journal: Journal;
  readonly surroundings: Surroundings;
}

/** What the asking came to. */
export interface MissingOutcome extends AskOutcome {
  readonly elapsedMs: number;
  /** The failure after which nothing more was asked, or null. */
  readonly finalError: EvaluatorError | null;
  /** Whether the most the run may cost kept calls back. */
  readonly isBudgetSpent: boolean;
}

/** Asks for the answers that are missing: keeps each, shows how far it is, ends gently when told. */
export async function askMissing(
  calls: readonly PlannedCall[],
  { job, journal, surroundings }: AskMissingOptions,
): Promise<MissingOutcome> {
  const { clock, signal, stderr } = surroundings;
  const keys = new WeakMap<EvaluationRequest, string>();
  const streak = new FailureStreak();
  const tracing = keepAnswers({ journal, keys, streak });
  const { transport, run } = job;
  const evaluator = createEvaluator({ transport, tracing, maxRetries: MAX_RETRIES });
  const budget = new Budget(run.maxCostUsd);
  const drain = startDrain(signal, surroundings);
  const startedAt = clock.now();
  let hideProgress = nothing;
  try {
    const outcome = await askCalls(calls, {
      evaluator,
      journal,
      keys,
      job,
      signal: drain.signal,
      goesOn: (request) => !signal.aborted && streak.finalError === null && budget.allows(request),
      onStart(totals) {
        budget.watch(totals);
        hideProgress = showProgress(stderr, { clock, total: calls.length, totals });
      },
    });
    const { finalError } = streak;
    const elapsedMs = clock.now() - startedAt;
    return { ...outcome, elapsedMs, finalError, isBudgetSpent: budget.isSpent };
  } finally {
    hideProgress();
    drain.release();
  }
}

function nothing(): void {}
