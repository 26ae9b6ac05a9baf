import type { EvaluationRequest, EvaluatorError } from "evaluator-client";
import type { Journal } from "../sqlite/journal.ts";
import { listLimits } from "../limits.ts";
import { Budget, type CallCost } from "../money/budget.ts";
import type { RunPrice } from "../money/price.ts";
import { RunTotals, stepFacts } from "../money/totals.ts";
import type { RunFacts } from "../run-facts.ts";
import { type CallStatus, FAILURES_IN_A_ROW } from "../store/run-store.ts";
import { type AskedEngines, engineNames } from "./ask-engines.ts";
import { callLimits, endsRun } from "./evaluate-one.ts";
import type { CallPlan, PlannedCall } from "./plan-calls.ts";
import type { RunContext } from "./run-context.ts";
import { type Chunk, type EndedCall, RunWorker, type WorkerOptions } from "./run-worker.ts";
import { watchWork } from "./watch-work.ts";

/** How long a run tries to have an answer. */
export interface RunLimits {
  /** Retries of a call after its first attempt. @default 6 */
  readonly maxRetries?: number;
  /** Time for each attempt of a call, in milliseconds. @default 30000 */
  readonly attemptTimeoutMs?: number;
  /** Time over all attempts and waits of a call, in milliseconds. @default a day */
  readonly deadlineMs?: number;
  /** So many failures, of any kind, before the journal has an answer end the run. @default no limit */
  readonly failuresAtStart?: number;
}

interface PlanWork {
  readonly context: WorkerOptions["context"] &
    Pick<RunContext, "questions" | "stderr"> & {
      readonly run: Pick<RunContext["run"], "concurrency" | "maxCost" | "rate">;
      readonly source: Pick<RunContext["source"], "word">;
    };
  readonly journal: Journal;
  readonly price: RunPrice;
  readonly limits?: RunLimits;
}

/** The result of asking. */
export type PlanOutcome = Awaited<ReturnType<typeof workOnPlan>>;

/**
 * Asks for the missing answers of a plan in input order, up to the concurrency at once, and keeps each in
 * the journal.
 *
 * A call begins when its note is on the disk, and the next one when its answer is: the calls that the
 * journal has as begun are those in flight.
 */
export async function workOnPlan(callPlan: CallPlan, work: PlanWork) {
  const totals = new RunTotals(work.price);
  const watchedCounts = { open: callPlan.open, totals };
  // A call that was in flight when an earlier try ended may have been charged for; its lost attempts are kept.
  const spentUsd =
    work.context.run.maxCost === Infinity
      ? 0
      : work.journal.spentUsd + callPlan.mostUsdBegun(work.price);
  const { result, elapsedMs } = await watchWork(watchedCounts, work.context, async (signal) => {
    const fileWorker = new FileWorker(callPlan, { ...work, totals, spentUsd, signal });
    await fileWorker.work();
    const { finalError, isBudgetSpent, askedAgain } = fileWorker;
    return { finalError, isBudgetSpent, askedAgain };
  });
  return { totals, elapsedMs, ...result };
}

type FileWorkerOptions = PlanWork &
  Pick<WorkerOptions, "totals" | "signal"> & {
    /** What tries of this run have spent that did not end it: the same command again has the same cap. */
    readonly spentUsd: number;
  };

/** Asks for the missing answers of a plan, the whole of which is one chunk. */
class FileWorker extends RunWorker<PlannedCall, Chunk<PlannedCall>> {
  readonly #options: FileWorkerOptions;
  readonly #budget: Budget;
  readonly #streak: FailureStreak;
  /** Ends the calls in flight when one cannot be kept. */
  readonly #broken: AbortController;
  #chunk: Chunk<PlannedCall> | null;
  /** The calls that this run made again, by their status before it. */
  readonly askedAgain: Record<Extract<CallStatus, "begun" | "changed">, number> = {
    begun: 0,
    changed: 0,
  };

  constructor(callPlan: CallPlan, options: FileWorkerOptions) {
    const { context, journal, price, spentUsd } = options;
    const { run, transport, next = null } = context;
    const { failuresAtStart = Infinity, ...limits } = { ...callLimits, ...options.limits };
    const brokenController = new AbortController();
    super({
      ...options,
      concurrency: run.concurrency,
      engineOptions: [{ ...limits, limits: listLimits(run, transport) }, limits],
      signal: AbortSignal.any([options.signal, brokenController.signal]),
    });
    this.#options = options;
    this.#broken = brokenController;
    this.#streak = new FailureStreak(callPlan.count("answered") === 0 ? failuresAtStart : Infinity);
    this.#budget = new Budget(run.maxCost, {
      price,
      transport,
      next: next?.transport,
      spentUsd,
      onLost: (lostUsd) => journal.addSpending(lostUsd),
    });
    this.#chunk = {
      records: callPlan.openCalls(),
      budget: this.#budget,
      ended: Promise.withResolvers(),
      inFlight: 0,
    };
  }

  /** The failure that every further call would have; null without one. */
  get finalError(): EvaluatorError | null {
    return this.#streak.finalError;
  }

  get isBudgetSpent(): boolean {
    return this.#budget.isSpent;
  }

  protected override async take(): Promise<Chunk<PlannedCall> | null> {
    const wholePlan = this.#chunk;
    this.#chunk = null;
    return wholePlan && this.hold(wholePlan);
  }

  protected override toRequest({ record: { state } }: PlannedCall): EvaluationRequest {
    return { state, questions: this.#options.context.questions };
  }

  protected override async waitForMoney(): Promise<boolean> {
    this.#budget.isSpent ||= this.inFlight === 0;
    if (this.#budget.isSpent) return false;
    // Each call that ends leaves money for one at most.
    this.limitToInFlight();
    await this.calls.nextEnd;
    return true;
  }

  protected override async stopAtMaximum(): Promise<void> {
    this.isStopped = true;
  }

  protected override async begin({ key, status }: PlannedCall, cost: CallCost): Promise<void> {
    if (status === "begun" || status === "changed") this.askedAgain[status] += 1;
    const earlierUsd = status === "begun" ? cost.reservedUsd : 0;
    await this.#options.journal.begin({ key, earlierUsd });
  }

  protected override async keep(
    _chunk: Chunk<PlannedCall>,
    { record: { id, state }, key }: PlannedCall,
    { cost, outcome, spentUsd }: EndedCall,
  ): Promise<void> {
    const isUnasked = cost.isHeldBack;
    if (!isUnasked) this.#streak.ended("error" in outcome ? outcome.cause : null);
    this.isStopped ||= this.finalError !== null;
    const callEnd = { id, key, state, lostUsd: cost.lostUsd, spentUsd, isUnasked, ...outcome };
    await this.#options.journal.end(callEnd);
    this.#options.totals.add(callEnd);
  }

  protected override async finish(): Promise<void> {}

  protected override failInCall(error: unknown): void {
    super.failInCall(error);
    this.#broken.abort(error);
  }
}

/** Detects that every further record would fail for the same reason. */
class FailureStreak {
  #length = 0;
  #mostAtStart: number;
  /** The failure that ends the run; null as long as it may go on. */
  finalError: EvaluatorError | null = null;

  /** @param mostAtStart - The number of failures before the first answer that ends the run. */
  constructor(mostAtStart: number) {
    this.#mostAtStart = mostAtStart;
  }

  /** Counts a call: a wrong key, or a service that is down for many records in a row, ends the run. */
  ended(error: EvaluatorError | null): void {
    if (error === null) {
      [this.#length, this.#mostAtStart] = [0, Infinity];
      return;
    }
    this.#length += 1;
    const isDown = this.#length >= FAILURES_IN_A_ROW && error.isRetryable;
    const isUnable = this.#length >= this.#mostAtStart;
    if (endsRun(error) || isDown || isUnable) this.finalError ??= error;
  }
}

/** Returns the facts of a run that asked for all its answers. */
export function toRunFacts(
  callPlan: CallPlan,
  { totals, elapsedMs }: PlanOutcome,
  context: Pick<RunContext, "clock" | "service"> & AskedEngines,
): RunFacts {
  const { clock, service } = context;
  const steps = stepFacts(totals, engineNames(context));
  const {
    succeeded: succeededCount,
    failed: failedCount,
    inputTokens,
    costUsd,
    isUnpriced,
  } = totals;
  return {
    finishedAt: new Date(clock.epochNow()).toISOString(),
    wire: service.address,
    modelId: service.modelId,
    mails: callPlan.length,
    answered: succeededCount,
    failed: failedCount,
    inputTokens,
    costUsd,
    elapsedMs,
    ...(isUnpriced && { isUnpriced }),
    ...(steps.length > 0 && { steps }),
  };
}
