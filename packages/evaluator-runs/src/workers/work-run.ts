import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import process from "node:process";
import { createEvaluator, type Evaluator, type Pacer } from "evaluator-client";
import type { AnswerWriter, ChunkRecord, RecordEnd } from "../postgres/index.ts";
import { toKeptText } from "../journal/kept-answer.ts";
import { callLimits, endsRun, evaluateOne } from "../run/ask-calls.ts";
import { evaluationUsd, type RunTotals } from "../run/cost.ts";
import { type Chunk, type ChunkSetting, HeldChunks, toRequest } from "./chunks.ts";

// Both chosen, not measured: `status` shows news each second, and a rate that does not jump.
const REPORT_MS = 1000;
const RATE_OVER_MS = 20_000;

/** The setting of a worker. */
interface WorkOptions extends Omit<ChunkSetting, "spent"> {
  readonly concurrency: number;
  /** The key's limit, shared with other machines; null for a limit of this worker alone. */
  readonly pacer: Pacer | null;
  readonly totals: RunTotals;
  /** Ends the calls in flight; the context's signal only prevents further calls. */
  readonly signal: AbortSignal;
}

interface Call {
  readonly chunk: Chunk;
  readonly record: ChunkRecord;
}

/**
 * Asks about the chunks of a run that no other worker has, until none is left or the run is stopped.
 *
 * A slot is free again when an answer is committed. So a worker that loses the database asks nothing
 * more, and holds at most as many answers as its concurrency.
 */
export class RunWorker {
  readonly #options: WorkOptions;
  readonly #worker = randomUUID();
  readonly #evaluator: Evaluator;
  readonly #writer: AnswerWriter;
  readonly #spent = { calls: 0, usd: 0 };
  readonly #chunks: HeldChunks;
  #inFlight = 0;
  #isStopped = false;
  #failure: unknown = null;

  constructor(options: WorkOptions) {
    const { runs, info, transport, pacer, signal, context } = options;
    const { stderr } = context;
    this.#options = options;
    const shared = pacer === null ? {} : { pacer };
    this.#evaluator = createEvaluator({ transport, maxRetries: callLimits.maxRetries, ...shared });
    let isReported = false;
    this.#writer = runs.writer({
      run: info.run,
      signal,
      onTrouble(trouble) {
        if (trouble !== null && !isReported) stderr.write(`Waiting: ${trouble.message}\n`);
        if (trouble === null) stderr.write("The database takes answers again.\n");
        isReported = trouble !== null;
      },
    });
    this.#chunks = new HeldChunks(
      { ...options, spent: this.#spent },
      () => this.#mayBegin,
      (error) => this.#fail(error),
    );
  }

  /** Works until no chunk is left, or the run is stopped. @throws the error that ended the work. */
  async work(): Promise<void> {
    const { concurrency, runs } = this.#options;
    const calls = this.#calls();
    const endReports = this.#startReports();
    this.#chunks.startTouching();
    try {
      await Promise.all(Array.from({ length: concurrency }, () => this.#askAll(calls)));
      await calls.return(undefined);
      await this.#chunks.finished();
    } finally {
      endReports();
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
      // After a cut-off, answers that were not committed are asked for again.
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

  async *#callsOf(chunk: Chunk): AsyncGenerator<Call, undefined> {
    const { runs, info } = this.#options;
    try {
      for (const [index, record] of chunk.records.entries()) {
        if (!this.#mayBegin || chunk.isLost) return;
        if (!(await chunk.allows(index))) {
          this.#isStopped = true;
          const why = `The run costs more than --max-cost ${info.maxCostUsd}, which is to be raised.`;
          await runs.stop(info.run, why);
          return;
        }
        chunk.began();
        yield { chunk, record };
      }
    } finally {
      chunk.readToEnd();
    }
  }

  async #ask({ chunk, record }: Call): Promise<void> {
    const { totals } = this.#options;
    this.#inFlight += 1;
    let costUsd = 0;
    try {
      const { end, counted } = await this.#endOf(record);
      await this.#writer.keep(end);
      totals.add(counted);
      if ("costUsd" in end) ({ costUsd } = end);
      else if (end.isFinal) this.#isStopped = true;
    } finally {
      this.#inFlight -= 1;
      chunk.endedCall(costUsd);
    }
  }

  async #endOf({ idx, key, state }: ChunkRecord) {
    const { questions, signal, price } = this.#options;
    const counted = await evaluateOne(this.#evaluator, toRequest(state, questions), signal);
    if ("error" in counted) {
      const { cause, ...failure } = counted;
      const { isRetryable } = cause;
      const end: RecordEnd = { idx, ...failure, isRetryable, isFinal: endsRun(cause) };
      return { end, counted };
    }
    const { evaluation } = counted;
    const costUsd = evaluationUsd(evaluation, price);
    this.#spent.calls += 1;
    this.#spent.usd += costUsd;
    const { inputTokens } = evaluation.usage;
    const end: RecordEnd = { key, state, evaluation: toKeptText(evaluation), inputTokens, costUsd };
    return { end, counted };
  }

  /** Reports each second that this worker is there, and reads whether the run was stopped. */
  #startReports(): () => void {
    const { runs, info, context, totals } = this.#options;
    const { clock } = context;
    const name = `${hostname()}:${process.pid}`;
    const counts: { readonly atMs: number; readonly answered: number }[] = [];
    let cancel: (() => void) | null = null;
    const report = () => {
      const { succeeded: answered, failed } = totals;
      const atMs = clock.now();
      counts.push({ atMs, answered });
      while ((counts[0]?.atMs ?? atMs) < atMs - RATE_OVER_MS) counts.shift();
      const first = counts[0] ?? { atMs, answered };
      const seconds = (atMs - first.atMs) / 1000;
      const perSecond = seconds > 0 ? (answered - first.answered) / seconds : 0;
      const [worker, inFlight] = [this.#worker, this.#inFlight];
      runs.report({ worker, run: info.run, name, answered, failed, perSecond, inFlight }).then(
        ({ state }) => void (this.#isStopped ||= state === "stopped"),
        () => {}, // the answers that wait for the database report the trouble
      );
      cancel = clock.schedule(REPORT_MS, report);
    };
    report();
    return () => cancel?.();
  }
}
