import type { BatchTotals, EvaluationRequest, Evaluator } from "evaluator-client";
import { type Job, requestFor } from "../job.ts";
import type { Journal } from "../journal/journal.ts";
import { plainText } from "../text/plain-text.ts";
import type { PlannedCall } from "./plan-calls.ts";

/** Who answers, where answers are kept, what is told, and what ends it early. */
export interface AskOptions {
  readonly evaluator: Evaluator;
  readonly journal: Journal;
  /** Told under which key the answer to a request is kept. */
  readonly keys: WeakMap<EvaluationRequest, string>;
  readonly job: Job;
  /** Asked before each request; false ends the asking. */
  readonly goesOn: (request: EvaluationRequest) => boolean;
  /** Ends the calls in flight. */
  readonly signal: AbortSignal;
  /** Told once how to see what is done so far. */
  readonly onStart: (totals: Readonly<BatchTotals>) => void;
}

/** How the asking ended. */
export interface AskOutcome {
  readonly totals: Readonly<BatchTotals>;
  /** What went wrong, by the key of the answer that is missing. */
  readonly failures: ReadonlyMap<string, string>;
}

/** Asks for answers in input order; a failed call does not end the others. */
export async function askCalls(
  calls: readonly PlannedCall[],
  options: AskOptions,
): Promise<AskOutcome> {
  const { evaluator, journal, job, signal } = options;
  const { concurrency } = job.run;
  const failures = new Map<string, string>();
  const batch = evaluator.evaluateMany(beginCalls(calls, options), { concurrency, signal });
  const { totals } = batch;
  options.onStart(totals);
  try {
    for await (const item of batch) {
      if (item.status === "succeeded") continue;
      const key = calls[item.index]?.key ?? "";
      const message = plainText(item.error.message);
      journal.fail(key, message);
      failures.set(key, message);
    }
  } catch (error) {
    // Cut off while it drained: what was not kept by then is asked again.
    if (!signal.aborted || error !== signal.reason) throw error;
  }
  return { totals, failures };
}

function* beginCalls(
  calls: readonly PlannedCall[],
  { journal, keys, job, goesOn }: AskOptions,
): Generator<EvaluationRequest> {
  for (const { mail, key } of calls) {
    const request = requestFor(job, mail);
    if (!goesOn(request)) return;
    journal.begin(key, { request, service: job.service });
    keys.set(request, key);
    yield request;
  }
}
