import type { EvaluationRequest } from "evaluator-client";
import { isPromised } from "../calibration.ts";
import { evaluatorRuntime } from "../machine.ts";
import type { Budget, CallCost } from "../money/budget.ts";
import type { RunTotals } from "../money/totals.ts";
import { type AskedEngines, type AskEngines, askEngines } from "./ask-engines.ts";
import { CallsInFlight } from "./calls-in-flight.ts";
import type { CallOutcome } from "./evaluate-one.ts";
import type { RunContext } from "./run-context.ts";

/** The setting of a worker. */
export interface WorkerOptions {
  readonly concurrency: number;
  /** The options of the engine, and of the next one. */
  readonly engineOptions: Parameters<typeof askEngines>[1];
  readonly totals: RunTotals;
  readonly context: Pick<RunContext, "clock" | "random" | "newId" | "signal"> &
    AskedEngines &
    Partial<Pick<RunContext, "calibration">>;
  /** Ends the calls in flight; the context's signal only prevents further calls. */
  readonly signal: AbortSignal;
}

/** Records that a worker asks about one after the other. */
export interface Chunk<TRecord> {
  readonly records: Iterable<TRecord> | AsyncIterable<TRecord>;
  readonly budget: Budget;
  /** Resolves when no more of its records are begun and no call is in flight. */
  readonly ended: PromiseWithResolvers<unknown>;
  /** Its calls in flight. */
  inFlight: number;
}

/** A call whose first attempt is reserved. */
interface ReservedCall<TRecord> {
  readonly record: TRecord;
  readonly request: EvaluationRequest;
  readonly cost: CallCost;
}

/** How a call ended. */
export interface EndedCall {
  readonly cost: CallCost;
  readonly outcome: CallOutcome;
  /** What it may have cost beside its lost attempts that are noted, in US dollars. */
  readonly spentUsd: number;
}

/**
 * Asks about the chunks of a run, until none is left or the run is stopped; a store of runs says which
 * chunks there are, and keeps the outcomes.
 *
 * A call begins when fewer than `concurrency` outcomes are not committed. So a worker that loses its store
 * asks nothing more, and holds at most as many answers as its concurrency.
 */
export abstract class RunWorker<TRecord, TChunk extends Chunk<TRecord>> {
  readonly #options: WorkerOptions;
  readonly #engines: AskEngines;
  protected readonly calls = new CallsInFlight();
  /** The chunks that are not finished or given back, and when they are. */
  protected readonly held = new Map<TChunk, Promise<void>>();
  protected isStopped = false;
  #failure: unknown = null;
  #concurrency: number;

  constructor(options: WorkerOptions) {
    const { context, engineOptions, concurrency } = options;
    this.#options = options;
    this.#concurrency = concurrency;
    this.#engines = askEngines(context, engineOptions, evaluatorRuntime(context));
  }

  /** Returns the next chunk, which is held; null if none is left. */
  protected abstract take(): Promise<TChunk | null>;
  protected abstract toRequest(record: TRecord): EvaluationRequest;
  /** Waits for calls that may leave money for another one; returns false if there are none. */
  protected abstract waitForMoney(): Promise<boolean>;
  /** Stops the run, which may not cost one more call. */
  protected abstract stopAtMaximum(): Promise<void>;
  /** Notes a call before it is sent. A store that has this commits it together with the outcomes before it. */
  protected begin?(record: TRecord, cost: CallCost): Promise<void>;
  /** Resolves when the outcome of a call is committed. */
  protected abstract keep(chunk: TChunk, record: TRecord, ended: EndedCall): Promise<void>;
  /** Called when all calls of a chunk have ended. */
  protected abstract finish(chunk: TChunk): Promise<void>;

  /** Works until no chunk is left, or the run is stopped. @throws the error that ended the work. */
  async work(): Promise<void> {
    let nextChunk = this.#takeNext();
    for (let takenChunk = await nextChunk; takenChunk !== null; takenChunk = await nextChunk) {
      nextChunk = this.#takeNext(); // is read while this one is asked about
      await this.#askAbout(takenChunk);
    }
    await Promise.all(this.held.values());
    if (this.#failure !== null) throw this.#failure;
  }

  /** The calls in flight. */
  get inFlight(): number {
    return this.calls.count;
  }

  get #mostInFlight(): number {
    return Math.min(this.#concurrency, this.#engines.mostCalls);
  }

  protected get mayBegin(): boolean {
    return !this.isStopped && !this.#options.context.signal.aborted;
  }

  /** Returns whether a call about a chunk may begin. */
  protected mayAskAbout(_chunk: TChunk): boolean {
    return this.mayBegin;
  }

  /** Begins no further calls, and ends the work with an error when those in flight have ended. */
  protected fail(error: unknown): void {
    this.isStopped = true;
    this.#failure ??= error;
  }

  protected failInCall(callError: unknown): void {
    const { signal } = this.#options;
    // After a cut-off, answers that were not committed are asked for again.
    this.fail(signal.aborted && callError === signal.reason ? null : callError);
  }

  /** Has no more calls at once from now on than are in flight. */
  protected limitToInFlight(): void {
    this.#concurrency = this.inFlight;
  }

  /** Holds a chunk until it is finished. */
  protected hold(heldChunk: TChunk): TChunk {
    this.held.set(heldChunk, this.#finish(heldChunk));
    return heldChunk;
  }

  async #finish(heldChunk: TChunk): Promise<void> {
    await heldChunk.ended.promise;
    await this.finish(heldChunk).catch((error: unknown) => this.fail(error));
    this.held.delete(heldChunk);
    this.calls.chunkFinished(heldChunk);
  }

  async #takeNext(): Promise<TChunk | null> {
    try {
      return await this.take();
    } catch (error) {
      this.fail(error);
      return null;
    }
  }

  /** Begins the calls of a chunk; they may end later. */
  async #askAbout(chunk: TChunk): Promise<void> {
    const openCalls = new Set<Promise<void>>();
    try {
      for await (const record of chunk.records) {
        while (this.inFlight >= this.#mostInFlight) await this.calls.nextEnd;
        if (!this.mayAskAbout(chunk)) break;
        const request = this.toRequest(record);
        const cost = await this.#reserve(chunk, request);
        // The wait for money may be long.
        if (cost === null || !this.mayAskAbout(chunk)) {
          if (cost !== null) chunk.budget.ended(cost, []);
          else if (this.mayAskAbout(chunk)) await this.stopAtMaximum();
          break;
        }
        const endedPromise = this.#ask(chunk, { record, request, cost });
        openCalls.add(endedPromise);
        void endedPromise.then(() => openCalls.delete(endedPromise));
      }
    } catch (error) {
      this.fail(error);
    }
    chunk.ended.resolve(Promise.all(openCalls));
    if (this.held.has(chunk)) this.calls.chunkBegun(chunk);
  }

  /** Reserves the most that a call may cost; null if the run may not cost it. */
  async #reserve(chunk: TChunk, callRequest: EvaluationRequest): Promise<CallCost | null> {
    for (;;) {
      const { nextEnd } = this.calls;
      const reservedCost = await chunk.budget.reserveCall(callRequest);
      if (reservedCost !== null || !this.mayAskAbout(chunk)) return reservedCost;
      // A call that ended meanwhile may have left money.
      if (nextEnd === this.calls.nextEnd && !(await this.waitForMoney())) return null;
    }
  }

  /** Asks about a record, and resolves when the outcome is committed; an error ends the work. */
  async #ask(chunk: TChunk, reservedCall: ReservedCall<TRecord>): Promise<void> {
    const onError = (callError: unknown) => {
      this.failInCall(callError);
      return null;
    };
    this.calls.begin(chunk);
    const ended = await this.#call(chunk, reservedCall).catch(onError);
    const keptPromise = ended && this.keep(chunk, reservedCall.record, ended).catch(onError);
    // A call that is noted before it is sent waits for this commit there.
    if (this.begin === undefined) await keptPromise;
    this.calls.end(chunk);
    await keptPromise;
  }

  async #call(chunk: TChunk, { record, request, cost }: ReservedCall<TRecord>): Promise<EndedCall> {
    const { totals, signal, context } = this.#options;
    await this.begin?.(record, cost);
    const askOptions = { signal, hasPromise: isPromised(context.calibration) };
    const outcome = await this.#engines.ask(request, cost, askOptions);
    const paidEvaluation = "error" in outcome ? outcome.paid : outcome.evaluation;
    const stepPrices = paidEvaluation === undefined ? [] : totals.pricesOf(paidEvaluation);
    return { cost, outcome, spentUsd: chunk.budget.ended(cost, stepPrices) };
  }
}
