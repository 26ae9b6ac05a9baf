import { randomUUID } from "node:crypto";
import { type CliContext } from "evaluator-kit";
import {
  createEvaluator,
  type Evaluator,
  EvaluatorError,
  type Pacer,
  type Questions,
  type Transport,
} from "evaluator-client";
import type {
  AnswerWriter,
  ChunkRecord,
  PostgresRuns,
  RecordEnd,
  RunInfo,
} from "../postgres/index.ts";
import type { CallEnd } from "../journal/journal.ts";
import { toKeptText } from "../journal/kept-answer.ts";
import { evaluationUsd, type Price, type RunTotals } from "../run/cost.ts";
import { callLimits, endsRun } from "../run/ask-calls.ts";
import { toFailure } from "../run/call-failure.ts";
import { type ChunkSetting, type ChunkWork, toRequest } from "./chunk-work.ts";
import { HeldChunks } from "./held-chunks.ts";
import { startReports } from "./worker-reports.ts";

/** What a worker asks with. */
export interface WorkOptions {
  readonly runs: PostgresRuns;
  readonly info: RunInfo;
  readonly questions: Questions;
  readonly transport: Transport;
  readonly price: Price;
  readonly concurrency: number;
  /** The key's limit, shared with others; null for this worker's own. */
  readonly pacer: Pacer | null;
  readonly totals: RunTotals;
  /** Ends the calls in flight; the context's signal only lets no further one begin. */
  readonly signal: AbortSignal;
  readonly context: Pick<CliContext, "clock" | "stderr" | "signal">;
}

/** A call that is to be made. */
interface Call {
  readonly chunk: ChunkWork;
  readonly record: ChunkRecord;
}

/** How a call ended: as it is kept, what it cost, and as the totals count it. */
interface EndedCall {
  readonly end: RecordEnd;
  readonly usd: number;
  readonly counted: CallEnd;
}

/** Asks about the chunks of a run that no other worker has, until none is left or the run is stopped. */
export async function workOnRun(options: WorkOptions): Promise<void> {
  await new RunWorker(options).work();
}

/**
 * A worker of a run. A slot is free again when an answer is committed: a worker that is cut off from
 * the database asks nothing more, and what it has in memory is never more than its concurrency.
 */
class RunWorker {
  readonly #options: WorkOptions;
  readonly #worker = randomUUID();
  readonly #evaluator: Evaluator;
  readonly #writer: AnswerWriter;
  readonly #setting: ChunkSetting;
  readonly #chunks: HeldChunks;
  #inFlight = 0;
  #isStopped = false;
  #failure: unknown = null;

  constructor(options: WorkOptions) {
    const { runs, info, transport, pacer, signal, questions, price, context } = options;
    this.#options = options;
    const shared = pacer === null ? {} : { pacer };
    this.#evaluator = createEvaluator({ transport, maxRetries: callLimits.maxRetries, ...shared });
    let isReported = false;
    this.#writer = runs.writer({
      run: info.run,
      signal,
      onTrouble(trouble) {
        if (trouble !== null && !isReported) context.stderr.write(`Waiting: ${trouble.message}\n`);
        if (trouble === null) context.stderr.write("The database takes answers again.\n");
        isReported = trouble !== null;
      },
    });
    const spent = { calls: 0, usd: 0 };
    this.#setting = { runs, questions, transport, price, maxCostUsd: info.maxCostUsd, spent };
    this.#chunks = new HeldChunks({
      run: info.run,
      setting: this.#setting,
      context,
      mayTake: () => this.#mayBegin,
      onFailure: (error) => this.#fail(error),
    });
  }

  async work(): Promise<void> {
    const { concurrency, runs } = this.#options;
    const calls = this.#calls();
    const reports = this.#reports();
    this.#chunks.startTouching();
    try {
      await Promise.all(Array.from({ length: concurrency }, () => this.#askAll(calls)));
      await calls.return(undefined);
      await this.#chunks.finished();
    } finally {
      reports.end();
      this.#chunks.endTouching();
      await runs.leave(this.#worker).catch(() => {});
    }
    if (this.#failure !== null) throw this.#failure;
  }

  get #mayBegin(): boolean {
    return !this.#isStopped && !this.#options.context.signal.aborted;
  }

  async #askAll(calls: AsyncGenerator<Call, undefined>): Promise<void> {
    try {
      for (let next = await calls.next(); !next.done; next = await calls.next()) {
        await this.#ask(next.value);
      }
    } catch (error) {
      const { signal } = this.#options;
      // Cut off while it drained: what was not committed by then is asked again.
      this.#fail(signal.aborted && error === signal.reason ? null : error);
    }
  }

  #fail(error: unknown): void {
    this.#isStopped = true;
    this.#failure ??= error;
  }

  /** Yields the calls of one chunk after the other, and reads the next chunk meanwhile. */
  async *#calls(): AsyncGenerator<Call, undefined> {
    let next = this.#chunks.take();
    try {
      for (let chunk = await next; chunk !== null; chunk = await next) {
        next = this.#chunks.take();
        yield* this.#callsOf(chunk);
      }
    } finally {
      const taken = await next.catch(() => null);
      taken?.readToEnd();
    }
  }

  async *#callsOf(chunk: ChunkWork): AsyncGenerator<Call, undefined> {
    try {
      for (const [index, record] of chunk.records.entries()) {
        if (!this.#mayBegin || chunk.isLost) return;
        if (!(await chunk.allows(index))) {
          await this.#stopForBudget();
          return;
        }
        chunk.began();
        yield { chunk, record };
      }
    } finally {
      chunk.readToEnd();
    }
  }

  async #stopForBudget(): Promise<void> {
    const { runs, info } = this.#options;
    this.#isStopped = true;
    const why = `The run costs more than --max-cost ${info.maxCostUsd}, which is to be raised.`;
    await runs.stop(info.run, why);
  }

  async #ask({ chunk, record }: Call): Promise<void> {
    this.#inFlight += 1;
    let costUsd = 0;
    try {
      const { end, usd, counted } = await this.#endOf(record);
      await this.#writer.keep(end);
      this.#options.totals.add(counted);
      costUsd = usd;
      if ("isFinal" in end && end.isFinal) this.#isStopped = true;
    } finally {
      this.#inFlight -= 1;
      chunk.endedCall(costUsd);
    }
  }

  async #endOf({ idx, id, key, state }: ChunkRecord): Promise<EndedCall> {
    const { questions, signal, price } = this.#options;
    try {
      const request = toRequest(state, questions);
      const { deadlineMs } = callLimits;
      const evaluation = await this.#evaluator.evaluate(request, { signal, deadlineMs });
      const usd = evaluationUsd(evaluation, price);
      this.#setting.spent.calls += 1;
      this.#setting.spent.usd += usd;
      const { inputTokens } = evaluation.usage;
      const answer = { key, state, evaluation: toKeptText(evaluation), inputTokens };
      const counted = { id, key, state: null, evaluation };
      return { end: { ...answer, costUsd: usd }, usd, counted };
    } catch (error) {
      if (!(error instanceof EvaluatorError)) throw error;
      const failure = toFailure(error);
      const end = { idx, ...failure, isRetryable: error.isRetryable, isFinal: endsRun(error) };
      return { end, usd: 0, counted: { id, key, ...failure } };
    }
  }

  #reports(): { end: () => void } {
    const { runs, info, context, totals } = this.#options;
    return startReports({
      runs,
      run: info.run,
      worker: this.#worker,
      clock: context.clock,
      totals,
      inFlight: () => this.#inFlight,
      onStopped: () => (this.#isStopped = true),
    });
  }
}
