import type { Evaluator } from "evaluator-client";
import { type Job, requestFor } from "../job.ts";
import type { CallEnd, Journal } from "../journal/journal.ts";
import type { Budget } from "../money/budget.ts";
import type { RunTotals } from "../money/run-totals.ts";
import { askOne } from "./ask-one.ts";
import type { FailureStreak } from "./failure-streak.ts";
import type { PlannedCall } from "./plan-calls.ts";

/** Who answers, where answers are kept, what is counted, and what ends it early. */
export interface AskOptions {
  readonly evaluator: Evaluator;
  readonly journal: Journal;
  readonly job: Job;
  readonly totals: RunTotals;
  readonly budget: Budget;
  readonly streak: FailureStreak;
  /** Lets no further call begin. */
  readonly interruption: AbortSignal;
  /** Ends the calls in flight. */
  readonly signal: AbortSignal;
}

interface Lane extends AskOptions {
  /** The calls that no lane has begun. */
  readonly line: Iterator<PlannedCall, undefined>;
  readonly failures: Map<string, string>;
}

/**
 * Asks for answers, beginning in input order, so many at once; gives what went wrong by key.
 *
 * A call begins when its note is on the disk, and gives its place to the next when its answer is:
 * the calls that the journal knows as begun are those in flight, at most so many.
 */
export async function askCalls(
  calls: readonly PlannedCall[],
  options: AskOptions,
): Promise<ReadonlyMap<string, string>> {
  const { journal, job, signal } = options;
  const broken = new AbortController();
  const lane: Lane = {
    ...options,
    line: callsToBegin(calls, options),
    failures: new Map(),
    signal: AbortSignal.any([signal, broken.signal]),
  };
  const firsts = takeFrom(lane.line, job.run.concurrency);
  await journal.begin(firsts.map(({ key }) => key));
  const lanes = firsts.map((first) => followLane(first, lane));
  await Promise.all(lanes.map((ended) => ended.catch((error: unknown) => broken.abort(error))));
  // Cut off while it drained: what was not kept by then is asked again.
  const isCutOff = broken.signal.reason === signal.reason;
  if (broken.signal.aborted && !isCutOff) throw broken.signal.reason;
  return lane.failures;
}

function* callsToBegin(
  calls: readonly PlannedCall[],
  { job, interruption, streak, budget }: AskOptions,
): Generator<PlannedCall, undefined> {
  for (const call of calls) {
    if (interruption.aborted || streak.finalError !== null) return;
    if (!budget.allows(() => requestFor(job, call.mail))) return;
    yield call;
  }
}

function takeFrom(line: Lane["line"], count: number): PlannedCall[] {
  const taken: PlannedCall[] = [];
  for (let call; taken.length < count && (call = line.next().value) !== undefined;) {
    taken.push(call);
  }
  return taken;
}

async function followLane(first: PlannedCall, lane: Lane): Promise<void> {
  const { line, journal, totals, failures } = lane;
  for (let call: PlannedCall | undefined = first; call !== undefined;) {
    const end: CallEnd = await askOne(call, lane);
    const next = line.next().value;
    await journal.end(end, next?.key ?? null);
    totals.add(end);
    if ("error" in end) failures.set(end.key, end.error);
    call = next;
  }
}
