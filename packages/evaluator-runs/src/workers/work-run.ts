import type { EvaluationRequest, Pacer, Questions } from "evaluator-client";
import { pause } from "evaluator-kit";
import type {
  ChunkRecord,
  LeasedChunk,
  ReportedRun,
  RunStore,
  RunWriter,
} from "../store/run-store.ts";
import type { RunInfo } from "../store/stored-runs.ts";
import type { CallCost } from "../money/budget.ts";
import type { RunPrice } from "../money/price.ts";
import type { RunTotals } from "../money/totals.ts";
import { isPromised } from "../calibration.ts";
import { evaluatorRuntime } from "../machine.ts";
import { type AskedEngines, type AskEngines, askEngines } from "../run/ask-engines.ts";
import { type CallOutcome, callLimits, endsRun } from "../run/evaluate-one.ts";
import { repeat } from "../run/interruption.ts";
import { describeMaximum } from "../run/results.ts";
import { untilReached } from "./open-runs.ts";
import { CallsInFlight, waitForWorkers } from "./calls-in-flight.ts";
import { checkPriced, ChunkBudget, toEnd } from "./chunk-calls.ts";
import type { RunContext } from "../run/run-context.ts";

// A lease lasts ten seconds, so two touches may be missed; a fraction for calls on their way.
const TOUCH_MS = 3000;
const LEASE_MS = 9500;
const IDLE_MS = 1000;

/** The setting of a worker. */
interface WorkOptions {
  readonly runs: RunStore;
  readonly info: RunInfo;
  readonly questions: Questions;
  readonly asking: { readonly concurrency: number };
  /** The limits of the keys of both engines, shared with other machines; null for a limit of this worker alone. */
  readonly pacers: readonly [Pacer | null, Pacer | null];
  readonly totals: RunTotals;
  readonly price: RunPrice;
  readonly context: Pick<RunContext, "clock" | "random" | "newId" | "stderr" | "signal"> &
    AskedEngines &
    Partial<Pick<RunContext, "calibration">>;
  /** Ends the calls in flight; the context's signal only prevents further calls. */
  readonly signal: AbortSignal;
}

/** A chunk that this worker has, and its progress. */
interface Chunk {
  readonly leased: LeasedChunk;
  readonly records: readonly ChunkRecord[];
  /** Resolves when no more of its records are begun and no call is in flight. */
  readonly ended: PromiseWithResolvers<unknown>;
  readonly budget: ChunkBudget;
  /** Its calls in flight. */
  inFlight: number;
  /** Until when no other worker has it, by the clock of this process, as far as is known. */
  heldUntilMs: number;
}

/**
 * Asks about the chunks of a run that no other worker has, until none is left or the run is stopped.
 *
 * A call begins when fewer than `concurrency` answers are not committed. So a worker that loses the
 * database asks nothing more, and holds at most as many answers as its concurrency.
 */
export class RunWorker {
  readonly #options: WorkOptions;
  readonly #askEngines: AskEngines;
  readonly #writer: RunWriter;
  /** The chunks that are not finished or given back, and when they are. */
  readonly #heldMap = new Map<Chunk, Promise<void>>();
  readonly #calls = new CallsInFlight();
  /** The most that the run may cost, in US dollars; null without a maximum. */
  #maxCostUsd: number | null;
  readonly #dearest = { factor: 1 };
  #isStopped = false;
  #failure: unknown = null;

  constructor(options: WorkOptions) {
    const { runs, info, pacers, signal, context } = options;
    const { stderr } = context;
    this.#options = options;
    this.#maxCostUsd = info.maxCostUsd;
    const [own, ofNext] = pacers;
    const limits = [
      { ...callLimits, ...(own && { pacer: own }) },
      { ...callLimits, ...(ofNext && { pacer: ofNext }) },
    ] as const;
    this.#askEngines = askEngines(context, limits, evaluatorRuntime(context));
    this.#writer = runs.writer({
      run: info.run,
      signal,
      onTrouble(trouble) {
        const recoveredText = "The database takes answers again.";
        stderr.write(`${trouble === null ? recoveredText : `Waiting: ${trouble.message}`}\n`);
      },
    });
  }

  /** Works until no chunk is left, or the run is stopped. @throws the error that ended the work. */
  async work(): Promise<void> {
    const { context } = this.#options;
    const endTouches = repeat(TOUCH_MS, () => this.#touch(), context.clock);
    try {
      let next = this.#take();
      for (let chunk = await next; chunk !== null; chunk = await next) {
        next = this.#take(); // is read while this one is asked about
        await this.#askAbout(chunk);
      }
      await Promise.all(this.#heldMap.values());
    } finally {
      endTouches();
    }
    if (this.#failure !== null) throw this.#failure;
  }

  /** Takes the state of the run from the database: who joins a run may stop it, or give it a maximum cost. */
  follow({ state, maxCostUsd }: ReportedRun): void {
    this.#isStopped ||= state === "stopped";
    try {
      checkPriced({ ...this.#options.info, maxCostUsd }, this.#options.price);
    } catch (error) {
      this.#fail(error);
    }
    this.#maxCostUsd = maxCostUsd;
    if (maxCostUsd === null) return;
    for (const { budget } of this.#heldMap.keys())
      budget.limit().catch((error: unknown) => this.#fail(error));
  }

  /** The calls in flight. */
  get inFlight(): number {
    return this.#calls.count;
  }

  get #mayBegin(): boolean {
    return !this.#isStopped && !this.#options.context.signal.aborted;
  }

  /** Returns whether no other worker has the chunk, and the run goes on. */
  #mayAskAbout({ heldUntilMs }: Chunk): boolean {
    return this.#mayBegin && heldUntilMs > this.#options.context.clock.now();
  }

  #fail(error: unknown): void {
    this.#isStopped = true;
    this.#failure ??= error;
  }

  /** Returns the next chunk; waits as long as other workers have chunks of the run. */
  async #take(): Promise<Chunk | null> {
    const { runs, info, context } = this.#options;
    try {
      while (this.#mayBegin) {
        const [askedAtMs, lease] = await this.#reach(
          async () => [context.clock.now(), await runs.fetchChunk(info.run)] as const,
        );
        // The reply may be so late that the lease is over.
        if (lease !== null) return await this.#read(lease, askedAtMs + LEASE_MS);
        if ((await this.#reach(() => runs.get(info.run))).state !== "open") return null;
        await this.#waitForChunk();
      }
    } catch (error) {
      this.#fail(error);
    }
    return null;
  }

  // A chunk of this worker may be the run's last one; the wait is short, since others end chunks too.
  async #waitForChunk(): Promise<void> {
    const { context } = this.#options;
    const endedController = new AbortController();
    void Promise.race(this.#heldMap.values()).then(() => endedController.abort());
    const signal = AbortSignal.any([context.signal, endedController.signal]);
    await pause(IDLE_MS, { ...context, signal });
  }

  /** Reads the missing records of a chunk, and what it has cost. */
  async #read(lease: LeasedChunk, heldUntilMs: number): Promise<Chunk> {
    const { runs, price, context } = this.#options;
    const { transport, next } = context;
    // If this worker's lease on the chunk ended, its calls in flight are committed first.
    const old = [...this.#heldMap].filter(([other]) => other.leased.chunk === lease.chunk);
    await Promise.all(old.map(([, ending]) => ending));
    const { missing: records, costUsd: spentUsd } = await this.#reach(() => runs.readChunk(lease));
    const chunk: Chunk = {
      leased: lease,
      records,
      heldUntilMs,
      inFlight: 0,
      ended: Promise.withResolvers(),
      budget: new ChunkBudget(this.#maxCostUsd === null ? Infinity : 0, {
        price,
        transport,
        next: next?.transport,
        spentUsd,
        dearest: this.#dearest,
        waitForMoney: () => this.#calls.waitToTryAgain(),
        reserveUsd: async (usd) => {
          const grantedUsd = await this.#reach(() => runs.reserve(lease, usd));
          if (grantedUsd === null) chunk.heldUntilMs = 0;
          return grantedUsd ?? 0;
        },
      }),
    };
    this.#heldMap.set(chunk, this.#finish(chunk));
    return chunk;
  }

  async #finish(chunk: Chunk): Promise<void> {
    await chunk.ended.promise;
    const { leased: lease, budget } = chunk;
    const ending = this.#reach(() => this.#options.runs.finish(lease, budget.heldUsd));
    await ending.catch((error: unknown) => this.#fail(error));
    this.#heldMap.delete(chunk);
    this.#calls.chunkFinished(chunk);
  }

  /** Begins the calls of a chunk; they may end later. */
  async #askAbout(chunk: Chunk): Promise<void> {
    const { asking } = this.#options;
    const calls: Promise<void>[] = [];
    try {
      for (const record of chunk.records) {
        while (this.inFlight >= asking.concurrency) await this.#calls.nextEnd;
        if (!this.#mayAskAbout(chunk)) break;
        const cost = await this.#reserve(chunk, record);
        // The wait for money may be long.
        if (cost === null || !this.#mayAskAbout(chunk)) {
          if (cost !== null) chunk.budget.ended(cost, []);
          else if (this.#mayAskAbout(chunk)) await this.#stopAtMaximum();
          break;
        }
        calls.push(this.#ask(chunk, record, cost));
      }
    } catch (error) {
      this.#fail(error);
    }
    chunk.ended.resolve(Promise.all(calls));
    if (this.#heldMap.has(chunk)) this.#calls.chunkBegun(chunk);
  }

  /** Reserves the most that a call may cost; null if the run may not cost it. */
  async #reserve(chunk: Chunk, record: ChunkRecord): Promise<CallCost | null> {
    const request = this.#toRequest(record);
    for (;;) {
      const cost = await chunk.budget.reserveCall(request);
      if (cost !== null || !this.#mayAskAbout(chunk)) return cost;
      if (await this.#calls.waitForMoney()) continue;
      if (!(await waitForWorkers(this.#options))) return null;
    }
  }

  async #stopAtMaximum(): Promise<void> {
    const { runs, info } = this.#options;
    this.#isStopped = true;
    await runs.stop(info.run, describeMaximum(this.#maxCostUsd));
  }

  #toRequest({ state }: ChunkRecord): EvaluationRequest {
    const { questions } = this.#options;
    return { state: JSON.parse(state) as EvaluationRequest["state"], questions };
  }

  /** Asks about a record, and resolves when the outcome is committed; an error ends the work. */
  async #ask(chunk: Chunk, record: ChunkRecord, cost: CallCost): Promise<void> {
    const { totals, signal, context } = this.#options;
    this.#calls.begin(chunk);
    try {
      const options = { signal, hasPromise: isPromised(context.calibration) };
      const outcome = await this.#askEngines(this.#toRequest(record), cost, options);
      const paidEvaluation = "error" in outcome ? outcome.paid : outcome.evaluation;
      chunk.budget.ended(cost, paidEvaluation === undefined ? [] : totals.pricesOf(paidEvaluation));
      if (!cost.isHeldBack) await this.#keep(chunk, record, outcome);
      // Without the lease nothing is reserved, though the run may have money left.
      else if (this.#mayAskAbout(chunk)) await this.#stopAtMaximum();
    } catch (error) {
      // After a cut-off, answers that were not committed are asked for again.
      this.#fail(signal.aborted && error === signal.reason ? null : error);
    }
    this.#calls.end(chunk);
  }

  async #keep(chunk: Chunk, record: ChunkRecord, outcome: CallOutcome): Promise<void> {
    const { totals } = this.#options;
    const costUsd = "error" in outcome ? null : totals.usdOf(outcome.evaluation);
    const isHeld = await this.#writer.keep(toEnd(record, outcome, costUsd), chunk.leased.lease);
    if (!isHeld) chunk.heldUntilMs = 0;
    totals.add(outcome);
    if ("error" in outcome) this.#isStopped ||= endsRun(outcome.cause);
  }

  /** Calls the database until it can be reached. */
  #reach<TResult>(call: () => Promise<TResult>): Promise<TResult> {
    return untilReached(call, this.#options.context);
  }

  #touch(): void {
    const untilMs = this.#options.context.clock.now() + LEASE_MS;
    for (const chunk of this.#heldMap.keys()) {
      // A lost lease stays lost, also if the reply to an older touch comes late.
      const onTouched = (isHeld: boolean) => void (chunk.heldUntilMs &&= isHeld ? untilMs : 0);
      this.#options.runs.touch(chunk.leased).then(onTouched, () => {});
    }
  }
}
