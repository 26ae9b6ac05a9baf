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
import { toKeptText } from "../journal/kept-answer.ts";
import type { RunTotals } from "../money/totals.ts";
import { isPromised } from "../calibration.ts";
import { evaluatorRuntime } from "../machine.ts";
import { callLimits, endsRun, evaluateOne } from "../run/evaluate-one.ts";
import { repeat } from "../run/interruption.ts";
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
  reservedUsd: number;
  spentUsd: number;
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
  readonly #evaluator: Evaluator;
  readonly #writer: RunWriter;
  /** The chunks that are not finished or given back, and when they are. */
  readonly #held = new Map<Chunk, Promise<void>>();
  /** The calls in flight. */
  inFlight = 0;
  #freed = Promise.withResolvers<void>();
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

  /** Reads the missing records of a chunk, and reserves their cost. */
  async #read(leased: LeasedChunk, heldUntilMs: number): Promise<Chunk> {
    const { runs } = this.#options;
    // If this worker's lease on the chunk ended, its calls in flight are committed first.
    const old = [...this.#held].filter(([held]) => held.leased.chunk === leased.chunk);
    await Promise.all(old.map(([, finished]) => finished));
    const chunk = await this.#tryAgain(async () => {
      const { missing: records, costUsd: spentUsd } = await runs.readChunk(leased);
      const counts = { reservedUsd: 0, spentUsd, inFlight: 0, heldUntilMs };
      const read: Chunk = { leased, records, ended: Promise.withResolvers(), ...counts };
      await this.#reserve(read, records);
      return read;
    });
    this.#held.set(chunk, this.#finish(chunk));
    return chunk;
  }

  async #finish(chunk: Chunk): Promise<void> {
    await chunk.ended.promise;
    const finished = this.#tryAgain(() => this.#options.runs.finish(chunk.leased));
    await finished.catch((error: unknown) => this.#fail(error));
    this.#held.delete(chunk);
  }

  /** Begins the calls of a chunk; they may end later. */
  async #askAbout(chunk: Chunk): Promise<void> {
    const { runs, info, asking, context } = this.#options;
    const calls: Promise<void>[] = [];
    try {
      for (const [index, record] of chunk.records.entries()) {
        while (this.inFlight >= asking.concurrency) {
          this.#freed = Promise.withResolvers();
          await this.#freed.promise;
        }
        if (!this.#mayBegin || chunk.heldUntilMs <= context.clock.now()) break;
        if (!(await this.#allows(chunk, index))) {
          this.#isStopped = true;
          const why = `The run costs more than --max-cost ${info.maxCostUsd}, which is to be raised.`;
          await runs.stop(info.run, why);
          break;
        }
        calls.push(this.#ask(chunk, record));
      }
    } catch (error) {
      this.#fail(error);
    }
    chunk.ended.resolve(Promise.all(calls));
  }

  /** Returns whether one more call fits into the reserved cost; reserves more if it does not. */
  async #allows(chunk: Chunk, index: number): Promise<boolean> {
    if (this.#options.info.maxCostUsd === null) return true;
    const perCall = this.#callUsd(chunk.records.slice(index, index + 1));
    const wanted = () => chunk.spentUsd + (chunk.inFlight + 1) * perCall;
    if (wanted() > chunk.reservedUsd) await this.#reserve(chunk, chunk.records.slice(index));
    return wanted() <= chunk.reservedUsd;
  }

  async #reserve(chunk: Chunk, records: readonly ChunkRecord[]): Promise<void> {
    const { runs, info } = this.#options;
    // Without a limit, the row only shows that the chunk is under way.
    const perCall = info.maxCostUsd === null ? 0 : this.#callUsd(records);
    const wanted = chunk.spentUsd + perCall * (chunk.inFlight + records.length);
    chunk.reservedUsd = await runs.reserve(chunk.leased, wanted);
  }

  #callUsd(records: readonly ChunkRecord[]): number {
    const requests = records.map((record) => this.#requestOf(record));
    const { context, totals } = this.#options;
    return totals.callUsd(requests, context.transport);
  }

  #requestOf({ state }: ChunkRecord): EvaluationRequest {
    const { questions } = this.#options;
    return { state: JSON.parse(state) as EvaluationRequest["state"], questions };
  }

  /** Asks about a record, and resolves when the outcome is committed; an error ends the work. */
  async #ask(chunk: Chunk, record: ChunkRecord): Promise<void> {
    const { totals, signal } = this.#options;
    this.inFlight += 1;
    chunk.inFlight += 1;
    try {
      const { calibration } = this.#options.context;
      const options = { signal, hasPromise: isPromised(calibration) };
      const outcome = await evaluateOne(this.#evaluator, this.#requestOf(record), options);
      const isHeld = await this.#writer.keep(toEnd(record, outcome, totals), chunk.leased.lease);
      if (!isHeld) chunk.heldUntilMs = 0;
      totals.add(outcome);
      if ("error" in outcome) this.#isStopped ||= endsRun(outcome.cause);
      const paid = "error" in outcome ? outcome.paid : outcome.evaluation;
      if (paid !== undefined) chunk.spentUsd += totals.usdOf(paid) ?? 0;
    } catch (error) {
      // After a cut-off, answers that were not committed are asked for again.
      this.#fail(signal.aborted && error === signal.reason ? null : error);
    }
    this.inFlight -= 1;
    chunk.inFlight -= 1;
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

/** Returns the stored form of the outcome of a call. */
function toEnd(
  { idx, key, state }: ChunkRecord,
  outcome: Awaited<ReturnType<typeof evaluateOne>>,
  totals: RunTotals,
) {
  if ("error" in outcome) {
    const { error, isRefusal, cause } = outcome;
    return { idx, error, isRefusal, isRetryable: cause.isRetryable, isFinal: endsRun(cause) };
  }
  const { evaluation } = outcome;
  const { inputTokens = 0 } = evaluation.usage ?? {};
  const costUsd = totals.usdOf(evaluation) ?? 0;
  return { idx, key, state, evaluation: toKeptText(evaluation), inputTokens, costUsd };
}
