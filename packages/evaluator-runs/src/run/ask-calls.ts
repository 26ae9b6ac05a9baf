import {
  AuthenticationError,
  ConfigurationError,
  createEvaluator,
  type Evaluator,
  EvaluatorError,
} from "evaluator-client";
import type { CallEnd, Journal } from "../journal/journal.ts";
import { toFailure } from "./call-failure.ts";
import { Budget, type Price, RunTotals } from "./cost.ts";
import { limitsOf } from "./estimate.ts";
import { startDrain } from "./interruption.ts";
import {
  type CallPlan,
  isEnded,
  type PlanContext,
  type PlannedCall,
  requestFor,
} from "./plan-calls.ts";
import { showProgress } from "./progress.ts";
import type { RunContext } from "./run-context.ts";

/**
 * How patient a call is: a service that is busy for a minute must not cost a mail its answer, and
 * waiting for the service's limit is the work, so that no call gives up before a day is over.
 */
export const callLimits = { maxRetries: 6, deadlineMs: 86_400_000 } as const;

/** What asking takes from a run. */
interface AskContext extends PlanContext, Pick<RunContext, "clock" | "stderr"> {
  readonly run: PlanContext["run"] & Pick<RunContext["run"], "concurrency" | "maxCost" | "rate">;
}

/** What asking needs beside the run's context. */
export interface AskOptions {
  readonly context: AskContext;
  readonly journal: Journal;
  readonly price: Price;
}

/** What the asking came to. */
export type AskOutcome = Awaited<ReturnType<typeof askMissing>>;

/** A call that got no answer. */
export interface CallFailure {
  readonly id: string;
  /** The index of its record in the input. */
  readonly index: number;
  /** What went wrong. */
  readonly error: string;
}

/** Asks for the answers that are missing: keeps each, shows how far it is, ends gently when told. */
export async function askMissing(plan: CallPlan, options: AskOptions) {
  const { context, price } = options;
  const { clock, run, signal, stderr } = context;
  const totals = new RunTotals(price);
  const budget = new Budget(run.maxCost, { price, transport: context.transport });
  const streak = new FailureStreak();
  const drain = startDrain(signal, context);
  const startedAt = clock.now();
  const total = plan.open;
  const hideProgress = showProgress(stderr, { clock, total, totals });
  try {
    const asked = { ...options, totals, budget, streak, signal: drain.signal };
    const failures = await askCalls(plan, asked);
    const elapsedMs = clock.now() - startedAt;
    const { finalError } = streak;
    // What went wrong stands under the key of the answer that is missing.
    return { totals, failures, elapsedMs, finalError, isBudgetSpent: budget.isSpent };
  } finally {
    hideProgress();
    drain.release();
  }
}

interface Asking extends AskOptions {
  readonly totals: RunTotals;
  readonly budget: Budget;
  readonly streak: FailureStreak;
  /** Ends the calls in flight; the context's signal only lets no further call begin. */
  readonly signal: AbortSignal;
}

/** What the workers of a run share. */
interface Work extends Asking {
  readonly evaluator: Evaluator;
  /** The calls that no worker has begun. */
  readonly queue: AsyncIterator<PlannedCall, undefined>;
  readonly failures: Map<string, CallFailure>;
}

/**
 * Asks for answers, beginning in input order, so many at once; returns what went wrong by key.
 *
 * A call begins when its note is on the disk, and is followed by the next when its answer is: the
 * calls that the journal knows as begun are those in flight, at most so many.
 */
async function askCalls(
  plan: CallPlan,
  options: Asking,
): Promise<ReadonlyMap<string, CallFailure>> {
  const { journal, signal } = options;
  const { transport, run } = options.context;
  const { maxRetries } = callLimits;
  const broken = new AbortController();
  const input: InputOutcome = { error: null };
  const work: Work = {
    ...options,
    evaluator: createEvaluator({ transport, maxRetries, limits: limitsOf(run, transport) }),
    queue: callsToBegin(plan, options, input),
    failures: new Map(),
    signal: AbortSignal.any([signal, broken.signal]),
  };
  const firsts = await takeFrom(work.queue, run.concurrency);
  journal.begin(firsts.map(({ key }) => key));
  const workers = firsts.map((first) => runWorker(first, work));
  await Promise.all(workers.map((ended) => ended.catch((error: unknown) => broken.abort(error))));
  // Cut off while it drained: what was not kept by then is asked again.
  const isCutOff = broken.signal.reason === signal.reason;
  if (broken.signal.aborted && !isCutOff) throw broken.signal.reason;
  if (input.error !== null) throw input.error;
  return work.failures;
}

/** Why no more of the input could be read, or null. */
interface InputOutcome {
  error: unknown;
}

async function* callsToBegin(
  plan: CallPlan,
  { context, streak, budget }: Asking,
  input: InputOutcome,
): AsyncGenerator<PlannedCall, undefined> {
  try {
    for await (const call of plan.calls()) {
      if (isEnded(call)) continue;
      if (context.signal.aborted || streak.finalError !== null) return;
      if (!budget.allows(() => requestFor(context, call.record))) return;
      yield call;
    }
  } catch (error) {
    // The calls in flight are paid for; their answers are kept before the run ends.
    input.error = error;
  }
}

async function takeFrom(queue: Work["queue"], count: number): Promise<PlannedCall[]> {
  const taken: PlannedCall[] = [];
  for (let call; taken.length < count && (call = (await queue.next()).value) !== undefined;) {
    taken.push(call);
  }
  return taken;
}

async function runWorker(first: PlannedCall, work: Work): Promise<void> {
  const { queue, journal, totals, failures } = work;
  for (let call: PlannedCall | undefined = first; call !== undefined;) {
    const end: CallEnd = await askOne(call, work);
    const next = (await queue.next()).value;
    await journal.end(end, next?.key ?? null);
    totals.add(end);
    const { index } = call;
    if ("error" in end) failures.set(end.key, { id: end.id, index, error: end.error });
    call = next;
  }
}

/** Asks about one mail, and tells the streak and the budget how it ended. */
async function askOne(
  { record, key }: PlannedCall,
  { evaluator, context, budget, streak, signal }: Work,
): Promise<CallEnd> {
  const { id } = record;
  const request = requestFor(context, record);
  try {
    const evaluation = await evaluator.evaluate(request, {
      signal,
      deadlineMs: callLimits.deadlineMs,
    });
    streak.succeeded();
    budget.answered(evaluation);
    return { id, key, state: request.state, evaluation };
  } catch (error) {
    if (!(error instanceof EvaluatorError)) throw error;
    streak.failed(error);
    budget.failed();
    return { id, key, ...toFailure(error) };
  }
}

/** Returns whether every further call would fail for the same reason: ours, such as a wrong key. */
export function endsRun(error: EvaluatorError): boolean {
  return error instanceof AuthenticationError || error instanceof ConfigurationError;
}

// Chosen, not measured: few enough that a service that is down ends the run soon.
const FAILURES_IN_A_ROW = 20;

/** Notices when every further mail would fail for the same reason. */
export class FailureStreak {
  #length = 0;
  /** The failure that ends the run; null as long as it may go on. */
  finalError: EvaluatorError | null = null;

  /** An answer came. */
  succeeded(): void {
    this.#length = 0;
  }

  /** No answer came: the key is wrong, or the service is down for many mails in a row. */
  failed(error: unknown): void {
    if (!(error instanceof EvaluatorError)) return;
    this.#length += 1;
    const isDown = this.#length >= FAILURES_IN_A_ROW && error.isRetryable;
    if (endsRun(error) || isDown) this.finalError ??= error;
  }
}
