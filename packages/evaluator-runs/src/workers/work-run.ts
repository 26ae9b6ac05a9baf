import {
  createEvaluator,
  type EvaluationRequest,
  type Evaluator,
  EvaluatorError,
  type Pacer,
  type Questions,
} from "evaluator-client";
import { pause } from "evaluator-kit";
import type { ChunkRecord, LeasedChunk, RunInfo, RunStore, RunWriter } from "../postgres/index.ts";
import type { CallCost, Price } from "../money/cost.ts";
import type { RunTotals } from "../money/totals.ts";
import { isPromised } from "../calibration.ts";
import { evaluatorRuntime } from "../machine.ts";
import { callLimits, endsRun, evaluateOne } from "../run/evaluate-one.ts";
import { repeat } from "../run/interruption.ts";
import { ChunkBudget, toEnd } from "./chunk-calls.ts";
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
  /** The key's limit, shared with other machines; null for a limit of this worker alone. */
  readonly pacer: Pacer | null;
  readonly totals: RunTotals;
  readonly price: Price;
  readonly context: Pick<
    RunContext,
    "clock" | "random" | "newId" | "stderr" | "signal" | "transport"
  > &
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
  /** The part of the run's maximum cost that the database granted; null for a run without one. */
  readonly budget: ChunkBudget | null;
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
  readonly #evaluator: Evaluator;
  readonly #writer: RunWriter;
  /** The chunks that are not finished or given back, and when they are. */
  readonly #held = new Map<Chunk, Promise<void>>();
  /** The calls in flight. */
  inFlight = 0;
  #freed = Promise.withResolvers<void>();
  /** The ends of the chunks whose calls have begun. */
  readonly #begun = new Set<Promise<void>>();
  readonly #dearest = { factor: 1 };
  /** What calls without an answer may have cost in chunks that ended, in US dollars. */
  #lostUsd = 0;
  #isStopped = false;
  #failure: unknown = null;

  constructor(options: WorkOptions) {
    const { runs, info, pacer, signal, context } = options;
    const { stderr, transport } = context;
    this.#options = options;
    this.#evaluator = createEvaluator(
      { transport, ...callLimits, ...(pacer && { pacer }) },
      evaluatorRuntime(context),
    );
    this.#writer = runs.writer({
      run: info.run,
      signal,
      onTrouble(trouble) {
        const recovered = "The database takes answers again.";
        stderr.write(`${trouble === null ? recovered : `Waiting: ${trouble.message}`}\n`);
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
      await Promise.all(this.#held.values());
    } finally {
      endTouches();
    }
    if (this.#failure !== null) throw this.#failure;
  }

  /** Begins no further call; those in flight end. */
  stop(): void {
    this.#isStopped = true;
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
        const [askedAtMs, leased] = await this.#tryAgain(
          async () => [context.clock.now(), await runs.fetchChunk(info.run)] as const,
        );
        // The reply may be so late that the lease is over.
        if (leased !== null) return await this.#read(leased, askedAtMs + LEASE_MS);
        if ((await this.#tryAgain(() => runs.get(info.run))).state !== "open") return null;
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
    const ended = new AbortController();
    void Promise.race(this.#held.values()).then(() => ended.abort());
    const signal = AbortSignal.any([context.signal, ended.signal]);
    await pause(IDLE_MS, { ...context, signal });
  }

  /** Reads the missing records of a chunk, and what the others have cost. */
  async #read(leased: LeasedChunk, heldUntilMs: number): Promise<Chunk> {
    const { runs, info, price } = this.#options;
    const { transport } = this.#options.context;
    // If this worker's lease on the chunk ended, its calls in flight are committed first.
    const old = [...this.#held].filter(([held]) => held.leased.chunk === leased.chunk);
    await Promise.all(old.map(([, finished]) => finished));
    const chunk = await this.#tryAgain(async () => {
      const { missing: records, costUsd: spentUsd } = await runs.readChunk(leased);
      // Without a maximum, the row only shows that the chunk is under way.
      const grantedUsd = await runs.reserve(leased, info.maxCostUsd === null ? 0 : spentUsd);
      const reserveUsd = (usd: number) => this.#tryAgain(() => runs.reserve(leased, usd));
      const from = { price, transport, spentUsd, reserveUsd, dearest: this.#dearest };
      const budget = info.maxCostUsd === null ? null : new ChunkBudget(grantedUsd, from);
      const read: Chunk = { leased, records, budget, ended: Promise.withResolvers(), heldUntilMs };
      return read;
    });
    this.#held.set(chunk, this.#finish(chunk));
    return chunk;
  }

  async #finish(chunk: Chunk): Promise<void> {
    await chunk.ended.promise;
    const finished = this.#tryAgain(() => this.#options.runs.finish(chunk.leased));
    await finished.catch((error: unknown) => this.#fail(error));
    this.#lostUsd += chunk.budget?.lostUsd ?? 0;
    this.#held.delete(chunk);
  }

  /** Begins the calls of a chunk; they may end later. */
  async #askAbout(chunk: Chunk): Promise<void> {
    const { asking } = this.#options;
    const calls: Promise<void>[] = [];
    try {
      for (const record of chunk.records) {
        while (this.inFlight >= asking.concurrency) {
          await this.#nextFreed();
        }
        if (!this.#mayAskAbout(chunk)) break;
        const cost = await this.#reserve(chunk, record);
        if (cost === null) {
          await this.#stopAtMaximum();
          break;
        }
        // The wait for money may be long.
        if (!this.#mayAskAbout(chunk)) break;
        calls.push(this.#ask(chunk, record, cost));
      }
    } catch (error) {
      this.#fail(error);
    }
    chunk.ended.resolve(Promise.all(calls));
    const finished = this.#held.get(chunk);
    if (finished === undefined) return;
    this.#begun.add(finished);
    void finished.finally(() => this.#begun.delete(finished));
  }

  /** Reserves the most that a call may cost: "free" without a maximum, null if the run may not cost it. */
  async #reserve(chunk: Chunk, record: ChunkRecord): Promise<CallCost | "free" | null> {
    const { budget } = chunk;
    if (budget === null) return "free";
    const request = this.#requestOf(record);
    for (;;) {
      budget.addLost(this.#lostUsd);
      this.#lostUsd = 0;
      const cost = await budget.reserveCall(request);
      if (cost !== null) return cost;
      // Calls and chunks that end have cost less than the most.
      if (this.inFlight > 0) await this.#nextFreed();
      else if (this.#begun.size > 0) {
        const begun = [...this.#begun];
        this.#begun.clear();
        await Promise.all(begun);
      } else return null;
    }
  }

  async #stopAtMaximum(): Promise<void> {
    const { runs, info } = this.#options;
    this.#isStopped = true;
    const why = `The run costs more than --max-cost ${info.maxCostUsd}, which is to be raised.`;
    await runs.stop(info.run, why);
  }

  async #nextFreed(): Promise<void> {
    this.#freed = Promise.withResolvers();
    await this.#freed.promise;
  }

  #requestOf({ state }: ChunkRecord): EvaluationRequest {
    const { questions } = this.#options;
    return { state: JSON.parse(state) as EvaluationRequest["state"], questions };
  }

  /** Asks about a record, and resolves when the outcome is committed; an error ends the work. */
  async #ask(chunk: Chunk, record: ChunkRecord, cost: CallCost | "free"): Promise<void> {
    const { totals, signal, context } = this.#options;
    this.inFlight += 1;
    try {
      const around = cost === "free" ? this.#evaluator : this.#evaluator.with(cost.middleware);
      const options = { signal, hasPromise: isPromised(context.calibration) };
      const outcome = await evaluateOne(around, this.#requestOf(record), options);
      const paid = "error" in outcome ? outcome.paid : outcome.evaluation;
      const prices = paid === undefined ? [] : totals.pricesOf(paid);
      const costUsd = prices.reduce<number>((sum, usd) => sum + (usd ?? 0), 0);
      // The database keeps the cost of answers alone.
      if (cost !== "free") chunk.budget?.endedWith(cost, prices, "error" in outcome ? 0 : costUsd);
      const isHeld = await this.#writer.keep(toEnd(record, outcome, costUsd), chunk.leased.lease);
      if (!isHeld) chunk.heldUntilMs = 0;
      totals.add(outcome);
      if ("error" in outcome) this.#isStopped ||= endsRun(outcome.cause);
    } catch (error) {
      // After a cut-off, answers that were not committed are asked for again.
      this.#fail(signal.aborted && error === signal.reason ? null : error);
    }
    this.inFlight -= 1;
    this.#freed.resolve();
  }

  #touch(): void {
    const untilMs = this.#options.context.clock.now() + LEASE_MS;
    for (const chunk of this.#held.keys()) {
      // A lost lease stays lost, also if the reply to an older touch comes late.
      const onTouched = (isHeld: boolean) => void (chunk.heldUntilMs &&= isHeld ? untilMs : 0);
      this.#options.runs.touch(chunk.leased).then(onTouched, () => {});
    }
  }

  /** Calls the database until it can be reached. */
  async #tryAgain<TResult>(call: () => Promise<TResult>): Promise<TResult> {
    const { context } = this.#options;
    for (;;) {
      try {
        return await call();
      } catch (error) {
        const isAway = error instanceof EvaluatorError && error.isRetryable;
        if (!isAway || context.signal.aborted) throw error;
        await pause(IDLE_MS, context);
      }
    }
  }
}
