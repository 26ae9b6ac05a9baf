import type { EvaluatorError } from "evaluator-client";
import type { RunFacts } from "../run-facts.ts";
import { isPromised } from "../calibration.ts";
import { evaluatorRuntime } from "../machine.ts";
import type { Journal } from "../journal/journal.ts";
import { Budget, type CallCost } from "../money/budget.ts";
import type { RunPrice } from "../money/price.ts";
import { RunTotals, stepFacts } from "../money/totals.ts";
import { listLimits } from "../limits.ts";
import { type CallStatus, FAILURES_IN_A_ROW } from "../store/run-store.ts";
import { type AskedEngines, type AskEngines, askEngines, engineNames } from "./ask-engines.ts";
import { callLimits, endsRun } from "./evaluate-one.ts";
import { startDrain } from "./interruption.ts";
import type { CallPlan, PlannedCall } from "./plan-calls.ts";
import { showProgress } from "./progress.ts";
import type { RunContext } from "./run-context.ts";

/** The part of a run that asking uses. */
interface AskContext
  extends
    Pick<RunContext, "questions" | "signal" | "clock" | "random" | "newId" | "stderr">,
    AskedEngines,
    Partial<Pick<RunContext, "calibration">> {
  readonly run: Pick<RunContext["run"], "concurrency" | "maxCost" | "rate">;
  readonly source: Pick<RunContext["source"], "word">;
}

interface AskOptions {
  readonly context: AskContext;
  readonly journal: Journal;
  readonly price: RunPrice;
  readonly limits?: RunLimits;
}

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

/** The result of asking. */
export type AskOutcome = Awaited<ReturnType<typeof askMissing>>;

/**
 * Asks for the missing answers in input order, up to the concurrency at once, and keeps each; shows the
 * progress, and ends gently on an interruption.
 *
 * A call begins when its note is on the disk, and the next one when its answer is: the calls that the
 * journal has as begun are those in flight.
 */
export async function askMissing(plan: CallPlan, options: AskOptions) {
  const { context, price, journal } = options;
  const { clock, run, transport, next = null } = context;
  const { failuresAtStart = Infinity, ...limits } = { ...callLimits, ...options.limits };
  const totals = new RunTotals(price);
  const spentUsd = run.maxCost === Infinity ? 0 : spentBefore(plan, options);
  const drain = startDrain(context.signal, context);
  const startedAt = clock.now();
  const hideProgress = showProgress(plan.open, totals, context);
  const brokenController = new AbortController();
  const work: Work = {
    ...options,
    totals,
    askedAgain: { begun: 0, changed: 0 },
    budget: new Budget(run.maxCost, {
      price,
      transport,
      next: next?.transport,
      spentUsd,
      onLost: (usd) => journal.addSpending(usd),
    }),
    streak: new FailureStreak(plan.count("answered") === 0 ? failuresAtStart : Infinity),
    signal: AbortSignal.any([drain.signal, brokenController.signal]),
    ask: askEngines(
      context,
      [{ ...limits, limits: listLimits(run, transport) }, limits],
      evaluatorRuntime(context),
    ),
    inputError: null,
  };
  try {
    const queue = callsToBegin(plan, work);
    const firsts: BudgetedCall[] = [];
    for (let next; firsts.length < run.concurrency; firsts.push(next.value)) {
      next = await queue.next();
      if (next.done || next.value === null) break;
    }
    journal.begin(firsts);
    const workers = firsts.map((first) => runWorker(first, queue, work));
    await Promise.all(
      workers.map((endedPromise) =>
        endedPromise.catch((error: unknown) => brokenController.abort(error)),
      ),
    );
    // After a cut-off, answers that were not kept are asked for again.
    const isCutOff = brokenController.signal.reason === drain.signal.reason;
    if (brokenController.signal.aborted && !isCutOff) throw brokenController.signal.reason;
    if (work.inputError !== null) throw work.inputError;
    const { finalError } = work.streak;
    const elapsedMs = clock.now() - startedAt;
    const { askedAgain, budget } = work;
    return { totals, elapsedMs, finalError, isBudgetSpent: budget.isSpent, askedAgain };
  } finally {
    hideProgress();
    drain.release();
  }
}

/** Returns what tries of this run have spent that did not end it: the same command again has the same cap. */
function spentBefore(plan: CallPlan, { journal, price }: AskOptions): number {
  // A call that was in flight when such a try ended may have been charged for; its lost attempts are kept.
  return journal.spentUsd + plan.mostUsdBegun(price);
}

interface Work extends AskOptions {
  readonly totals: RunTotals;
  /** The calls that this run made again, by their status before it. */
  readonly askedAgain: Record<Extract<CallStatus, "begun" | "changed">, number>;
  readonly budget: Budget;
  readonly streak: FailureStreak;
  /** Ends the calls in flight; the context's signal only prevents further calls. */
  readonly signal: AbortSignal;
  readonly ask: AskEngines;
  /** Why no more of the input could be read, or null. */
  inputError: unknown;
}

/** A call whose first attempt is reserved. */
type BudgetedCall = PlannedCall & { readonly cost: CallCost; readonly earlierUsd: number };
/** The calls to begin; null: none as long as the calls in flight may take the rest of the budget. */
type CallQueue = AsyncGenerator<BudgetedCall | null, undefined>;

async function* callsToBegin(plan: CallPlan, work: Work): CallQueue {
  const { context, streak, budget } = work;
  const { questions, signal } = context;
  try {
    for await (const call of plan.openCalls()) {
      if (signal.aborted || streak.finalError !== null) return;
      const request = { state: call.record.state, questions };
      let cost = budget.reserve(request);
      for (; cost === null; cost = budget.reserve(request)) {
        budget.isSpent ||= !budget.isReserved;
        if (signal.aborted || streak.finalError !== null || budget.isSpent) return;
        yield null;
      }
      yield { ...call, cost, earlierUsd: call.status === "begun" ? cost.reservedUsd : 0 };
    }
  } catch (error) {
    // The calls in flight are paid for; their answers are kept before the run ends.
    work.inputError = error;
  }
}

async function runWorker(first: BudgetedCall, queue: CallQueue, work: Work): Promise<void> {
  for (let call: BudgetedCall | null = first; call !== null;) {
    const end = await askOne(call, work);
    call = (await queue.next()).value ?? null;
    await work.journal.end(end, call);
    work.totals.add(end);
  }
}

/** Returns the facts of a run that asked for all its answers. */
export function toRunFacts(
  plan: CallPlan,
  { totals, elapsedMs }: AskOutcome,
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
    mails: plan.length,
    answered: succeededCount,
    failed: failedCount,
    inputTokens,
    costUsd,
    elapsedMs,
    ...(isUnpriced && { isUnpriced }),
    ...(steps.length > 0 && { steps }),
  };
}

async function askOne(
  { record: { id, state }, key, status, cost }: BudgetedCall,
  { ask, context: { questions, calibration }, budget, totals, askedAgain, streak, signal }: Work,
) {
  if (status === "begun" || status === "changed") askedAgain[status] += 1;
  const options = { signal, hasPromise: isPromised(calibration) };
  const end = await ask({ state, questions }, cost, options);
  const paidEvaluation = "error" in end ? end.paid : end.evaluation;
  const spentUsd = budget.ended(
    cost,
    paidEvaluation === undefined ? [] : totals.pricesOf(paidEvaluation),
  );
  const isUnasked = cost.isHeldBack;
  if (!isUnasked) streak.ended("error" in end ? end.cause : null);
  return { id, key, state, lostUsd: cost.lostUsd, spentUsd, isUnasked, ...end };
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
