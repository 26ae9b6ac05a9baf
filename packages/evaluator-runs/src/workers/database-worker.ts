import type { EvaluationRequest, Pacer, Questions } from "evaluator-client";
import { CliError, pause } from "evaluator-kit";
import type {
  ChunkRecord,
  LeasedChunk,
  ReportedRun,
  RunStore,
  RunWriter,
} from "../store/run-store.ts";
import type { RunInfo } from "../store/stored-runs.ts";
import { toKeptText } from "../journal/kept-answer.ts";
import { Budget } from "../money/budget.ts";
import { findUnpriced, type RunPrice } from "../money/price.ts";
import { callLimits, type CallOutcome, endsRun } from "../run/evaluate-one.ts";
import { repeat } from "../run/interruption.ts";
import { describeMaximum } from "../run/results.ts";
import type { RunContext } from "../run/run-context.ts";
import { type Chunk, type EndedCall, RunWorker, type WorkerOptions } from "../run/run-worker.ts";
import { untilReached } from "./open-runs.ts";

// A lease lasts ten seconds, so two touches may be missed; a fraction for calls on their way.
const TOUCH_MS = 3000;
const LEASE_MS = 9500;
const IDLE_MS = 1000;
const REPORTED_MS = 1000; // as workers report

interface DatabaseWork extends Pick<WorkerOptions, "totals" | "signal"> {
  readonly runs: RunStore;
  readonly info: RunInfo;
  readonly questions: Questions;
  readonly asking: { readonly concurrency: number };
  /** The limits of the keys of both engines, shared with other machines; null for a limit of this worker alone. */
  readonly pacers: readonly [Pacer | null, Pacer | null];
  readonly price: RunPrice;
  readonly context: WorkerOptions["context"] & Pick<RunContext, "stderr">;
}

/** A chunk that this worker has leased. */
interface WorkChunk extends Chunk<ChunkRecord> {
  readonly leased: LeasedChunk;
  /** Until when no other worker has it, by the clock of this process, as far as is known. */
  heldUntilMs: number;
}

/** Asks about the chunks of a run that no other worker has. */
export class DatabaseWorker extends RunWorker<ChunkRecord, WorkChunk> {
  readonly #options: DatabaseWork;
  readonly #writer: RunWriter;
  /** The most that the run may cost, in US dollars; null without a maximum. */
  #maxCostUsd: number | null;
  readonly #dearest = { factor: 1 };

  constructor(options: DatabaseWork) {
    const { runs, info, pacers, signal, asking, context } = options;
    const [ownPacer, nextPacer] = pacers;
    super({
      ...options,
      concurrency: asking.concurrency,
      engineOptions: [
        { ...callLimits, ...(ownPacer && { pacer: ownPacer }) },
        { ...callLimits, ...(nextPacer && { pacer: nextPacer }) },
      ],
    });
    this.#options = options;
    this.#maxCostUsd = info.maxCostUsd;
    this.#writer = runs.writer({
      run: info.run,
      signal,
      onTrouble(storeTrouble) {
        const recoveredText = "The database takes answers again.";
        const text = storeTrouble === null ? recoveredText : `Waiting: ${storeTrouble.message}`;
        context.stderr.write(`${text}\n`);
      },
    });
  }

  override async work(): Promise<void> {
    const endTouches = repeat(TOUCH_MS, () => this.#touch(), this.#options.context.clock);
    await super.work().finally(endTouches);
  }

  /** Takes the state of the run from the database: who joins a run may stop it, or give it a maximum cost. */
  follow({ state, maxCostUsd }: ReportedRun): void {
    this.isStopped ||= state === "stopped";
    try {
      checkPriced({ ...this.#options.info, maxCostUsd }, this.#options.price);
    } catch (error) {
      this.fail(error);
    }
    this.#maxCostUsd = maxCostUsd;
    if (maxCostUsd === null) return;
    for (const { budget } of this.held.keys())
      budget.limit().catch((error: unknown) => this.fail(error));
  }

  /** Returns whether no other worker has the chunk, and the run goes on. */
  protected override mayAskAbout({ heldUntilMs }: WorkChunk): boolean {
    return this.mayBegin && heldUntilMs > this.#options.context.clock.now();
  }

  /** Returns the next chunk; waits as long as other workers have chunks of the run. */
  protected override async take(): Promise<WorkChunk | null> {
    const { runs, info, context } = this.#options;
    while (this.mayBegin) {
      const [askedAtMs, leasedChunk] = await this.#reach(
        async () => [context.clock.now(), await runs.fetchChunk(info.run)] as const,
      );
      // The reply may be so late that the lease is over.
      if (leasedChunk !== null) return await this.#read(leasedChunk, askedAtMs + LEASE_MS);
      if ((await this.#reach(() => runs.get(info.run))).state !== "open") return null;
      await this.#waitForChunk();
    }
    return null;
  }

  // A chunk of this worker may be the run's last one; the wait is short, since others end chunks too.
  async #waitForChunk(): Promise<void> {
    const { context } = this.#options;
    const endedController = new AbortController();
    void Promise.race(this.held.values()).then(() => endedController.abort());
    const signal = AbortSignal.any([context.signal, endedController.signal]);
    await pause(IDLE_MS, { ...context, signal });
  }

  /** Reads the missing records of a chunk, and what it has cost. */
  async #read(lease: LeasedChunk, heldUntilMs: number): Promise<WorkChunk> {
    const { runs, price, context } = this.#options;
    const { transport, next } = context;
    // If this worker's lease on the chunk ended, its calls in flight are committed first.
    const oldChunks = [...this.held].filter(([other]) => other.leased.chunk === lease.chunk);
    await Promise.all(oldChunks.map(([, ending]) => ending));
    const { missing: records, costUsd: spentUsd } = await this.#reach(() => runs.readChunk(lease));
    const workChunk: WorkChunk = {
      leased: lease,
      records,
      heldUntilMs,
      inFlight: 0,
      ended: Promise.withResolvers(),
      budget: new Budget(this.#maxCostUsd === null ? Infinity : 0, {
        price,
        transport,
        next: next?.transport,
        spentUsd,
        dearest: this.#dearest,
        waitForMoney: () => this.calls.waitToTryAgain(),
        reserveUsd: async (wantedUsd) => {
          const grantedUsd = await this.#reach(() => runs.reserve(lease, wantedUsd));
          if (grantedUsd === null) workChunk.heldUntilMs = 0;
          return grantedUsd ?? 0;
        },
      }),
    };
    return this.hold(workChunk);
  }

  protected override async finish({ leased: lease, budget }: WorkChunk): Promise<void> {
    await this.#reach(() => this.#options.runs.finish(lease, budget.heldUsd));
  }

  protected override toRequest({ state }: ChunkRecord): EvaluationRequest {
    const { questions } = this.#options;
    return { state: JSON.parse(state) as EvaluationRequest["state"], questions };
  }

  protected override async waitForMoney(): Promise<boolean> {
    return (await this.calls.waitForMoney()) || (await this.#waitForWorkers());
  }

  protected override async stopAtMaximum(): Promise<void> {
    const { runs, info } = this.#options;
    this.isStopped = true;
    await runs.stop(info.run, describeMaximum(this.#maxCostUsd));
  }

  protected override async keep(
    chunk: WorkChunk,
    record: ChunkRecord,
    { cost, outcome }: EndedCall,
  ): Promise<void> {
    const { totals } = this.#options;
    if (cost.isHeldBack) {
      // Without the lease nothing is reserved, though the run may have money left.
      if (this.mayAskAbout(chunk)) await this.stopAtMaximum();
      return;
    }
    const answerUsd = "error" in outcome ? null : totals.usdOf(outcome.evaluation);
    const isHeld = await this.#writer.keep(toEnd(record, outcome, answerUsd), chunk.leased.lease);
    if (!isHeld) chunk.heldUntilMs = 0;
    totals.add(outcome);
    if ("error" in outcome) this.isStopped ||= endsRun(outcome.cause);
  }

  /** Waits if workers of the run have calls in flight, which may cost less than the most; returns false if none has. */
  async #waitForWorkers(): Promise<boolean> {
    const { runs, info, context } = this.#options;
    const workers = await this.#reach(() => runs.workers(info.run));
    if (workers.every(({ inFlight }) => inFlight === 0)) return false;
    await pause(REPORTED_MS, context);
    return true;
  }

  /** Calls the database until it can be reached. */
  #reach<TResult>(reachedCall: () => Promise<TResult>): Promise<TResult> {
    return untilReached(reachedCall, this.#options.context);
  }

  #touch(): void {
    const untilMs = this.#options.context.clock.now() + LEASE_MS;
    for (const heldChunk of this.held.keys()) {
      // A lost lease stays lost, also if the reply to an older touch comes late.
      const onTouched = (isHeld: boolean) => void (heldChunk.heldUntilMs &&= isHeld ? untilMs : 0);
      this.#options.runs.touch(heldChunk.leased).then(onTouched, () => {});
    }
  }
}

// The machine that began the run may have been told the price.
/** Checks that the maximum cost of a run can be kept. @throws CliError if no price is known */
export function checkPriced({ run, state, maxCostUsd }: RunInfo, price: RunPrice): void {
  const unpriced = findUnpriced(price);
  if (state !== "open" || maxCostUsd === null || unpriced === null) return;
  throw new CliError(`The --max-cost of run ${run} ${unpriced.problem}. ${unpriced.advice}.`);
}

/** Returns the stored form of the outcome of a call. */
function toEnd({ idx, key, state }: ChunkRecord, outcome: CallOutcome, costUsd: number | null) {
  if ("error" in outcome) {
    const { error, isRefusal, cause } = outcome;
    return { idx, error, isRefusal, isRetryable: cause.isRetryable, isFinal: endsRun(cause) };
  }
  const { evaluation } = outcome;
  const { inputTokens = 0 } = evaluation.usage ?? {};
  return { idx, key, state, evaluation: toKeptText(evaluation), inputTokens, costUsd };
}
