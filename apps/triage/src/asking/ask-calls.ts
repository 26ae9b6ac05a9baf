import type { Evaluator } from "evaluator-client";
import { type Job, requestFor } from "../job.ts";
import type { CallEnd, Journal } from "../journal/journal.ts";
import type { Budget } from "../money/budget.ts";
import type { RunTotals } from "../money/run-totals.ts";
import { askOne } from "./ask-one.ts";
import type { FailureStreak } from "./failure-streak.ts";
import type { CallPlan, PlannedCall } from "./plan-calls.ts";

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

/** A call that got no answer. */
export interface CallFailure {
  readonly id: string;
  /** The index of its record in the input. */
  readonly index: number;
  /** What went wrong. */
  readonly error: string;
}

interface Lane extends AskOptions {
  /** The calls that no lane has begun. */
  readonly line: AsyncIterator<PlannedCall, undefined>;
  readonly failures: Map<string, CallFailure>;
}

/**
 * Asks for answers, beginning in input order, so many at once; gives what went wrong by key.
 *
 * A call begins when its note is on the disk, and gives its place to the next when its answer is:
 * the calls that the journal knows as begun are those in flight, at most so many.
 */
export async function askCalls(
  plan: CallPlan,
  options: AskOptions,
): Promise<ReadonlyMap<string, CallFailure>> {
  const { journal, job, signal } = options;
  const broken = new AbortController();
  const input: InputOutcome = { error: null };
  const lane: Lane = {
    ...options,
    line: callsToBegin(plan, options, input),
    failures: new Map(),
    signal: AbortSignal.any([signal, broken.signal]),
  };
  const firsts = await takeFrom(lane.line, job.run.concurrency);
  await journal.begin(firsts.map(({ key }) => key));
  const lanes = firsts.map((first) => followLane(first, lane));
  await Promise.all(lanes.map((ended) => ended.catch((error: unknown) => broken.abort(error))));
  // Cut off while it drained: what was not kept by then is asked again.
  const isCutOff = broken.signal.reason === signal.reason;
  if (broken.signal.aborted && !isCutOff) throw broken.signal.reason;
  if (input.error !== null) throw input.error;
  return lane.failures;
}

/** Why no more of the input could be read, or null. */
interface InputOutcome {
  error: unknown;
}

async function* callsToBegin(
  plan: CallPlan,
  { job, interruption, streak, budget }: AskOptions,
  input: InputOutcome,
): AsyncGenerator<PlannedCall, undefined> {
  try {
    for await (const call of plan.calls()) {
      if (call.status === "answered") continue;
      if (interruption.aborted || streak.finalError !== null) return;
      if (!budget.allows(() => requestFor(job, call.mail))) return;
      yield call;
    }
  } catch (error) {
    // The calls in flight are paid for; their answers are kept before the run ends.
    input.error = error;
  }
}

async function takeFrom(line: Lane["line"], count: number): Promise<PlannedCall[]> {
  const taken: PlannedCall[] = [];
  for (let call; taken.length < count && (call = (await line.next()).value) !== undefined;) {
    taken.push(call);
  }
  return taken;
}

async function followLane(first: PlannedCall, lane: Lane): Promise<void> {
  const { line, journal, totals, failures } = lane;
  for (let call: PlannedCall | undefined = first; call !== undefined;) {
    const end: CallEnd = await askOne(call, lane);
    const next = (await line.next()).value;
    await journal.end(end, next?.key ?? null);
    totals.add(end);
    const { index } = call;
    if ("error" in end) failures.set(end.key, { id: end.id, index, error: end.error });
    call = next;
  }
}
