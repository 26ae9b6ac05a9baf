import type { CliContext } from "evaluator-kit";
import {
  type EvaluationRequest,
  EvaluatorError,
  type Questions,
  type Transport,
} from "evaluator-client";
import type { ChunkRecord, LeasedChunk, PostgresRuns, RunInfo } from "../postgres/index.ts";
import { callUsd, type Price } from "../run/cost.ts";
import { pause } from "../run/interruption.ts";

// A lease lasts ten seconds, so two touches may be missed.
const TOUCH_MS = 3000;
const IDLE_MS = 1000;

/** The setting of all chunks of a worker. */
export interface ChunkSetting {
  readonly runs: PostgresRuns;
  readonly info: RunInfo;
  readonly questions: Questions;
  readonly transport: Transport;
  readonly price: Price;
  readonly context: Pick<CliContext, "clock" | "stderr" | "signal">;
  /** The cost of this worker's calls so far. */
  readonly spent: { calls: number; usd: number };
}

/** A chunk that this worker has, and its progress. */
export class Chunk {
  readonly leased: LeasedChunk;
  readonly records: readonly ChunkRecord[];
  readonly #setting: ChunkSetting;
  #reservedUsd = 0;
  #spentUsd: number;
  #inFlight = 0;
  #isRead = false;
  /** Whether another worker may have it by now. */
  isLost = false;
  readonly #ended = Promise.withResolvers<void>();

  private constructor(
    leased: LeasedChunk,
    { missing, costUsd }: Awaited<ReturnType<PostgresRuns["readChunk"]>>,
    setting: ChunkSetting,
  ) {
    this.leased = leased;
    this.records = missing;
    this.#spentUsd = costUsd;
    this.#setting = setting;
  }

  /** Reads the missing records of a chunk, and reserves their cost. */
  static async read(leased: LeasedChunk, setting: ChunkSetting): Promise<Chunk> {
    const chunk = new Chunk(leased, await setting.runs.readChunk(leased), setting);
    await chunk.#reserve(chunk.records);
    return chunk;
  }

  /** Returns whether one more call fits into the reserved cost; reserves more if it does not. */
  async allows(index: number): Promise<boolean> {
    if (this.#setting.info.maxCostUsd === null) return true;
    const perCall = this.#callUsd(this.records.slice(index, index + 1));
    const wanted = () => this.#spentUsd + (this.#inFlight + 1) * perCall;
    if (wanted() > this.#reservedUsd) await this.#reserve(this.records.slice(index));
    return wanted() <= this.#reservedUsd;
  }

  /** Counts a call that begins. */
  began(): void {
    this.#inFlight += 1;
  }

  /** Counts a call that has ended and is committed. */
  endedCall(costUsd: number): void {
    this.#inFlight -= 1;
    this.#spentUsd += costUsd;
    this.#settle();
  }

  /** Notes that no more of its records are begun. */
  readToEnd(): void {
    this.#isRead = true;
    this.#settle();
  }

  /** Resolves when no more records are begun and no call is in flight. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  #settle(): void {
    if (this.#isRead && this.#inFlight === 0) this.#ended.resolve();
  }

  async #reserve(records: readonly ChunkRecord[]): Promise<void> {
    const { runs, info } = this.#setting;
    // Without a limit, the row only shows that the chunk is under way.
    const perCall = info.maxCostUsd === null ? 0 : this.#callUsd(records);
    const wanted = this.#spentUsd + perCall * (this.#inFlight + records.length);
    this.#reservedUsd = await runs.reserve(this.leased, wanted);
  }

  #callUsd(records: readonly ChunkRecord[]): number {
    const { questions } = this.#setting;
    const requests = records.map(({ state }) => toRequest(state, questions));
    return callUsd(requests, this.#setting);
  }
}

/** Returns the request about a state that is kept as JSON. */
export function toRequest(state: string, questions: Questions): EvaluationRequest {
  return { state: JSON.parse(state) as EvaluationRequest["state"], questions };
}

/** The chunks of a run that this worker has: takes them, renews their leases, gives them back. */
export class HeldChunks {
  readonly #setting: ChunkSetting;
  readonly #mayTake: () => boolean;
  readonly #onFailure: (error: unknown) => void;
  readonly #chunks = new Map<Chunk, Promise<void>>();
  #cancelTouch: () => void = () => {};

  /** @param onFailure - Called if a chunk cannot be finished. */
  constructor(setting: ChunkSetting, mayTake: () => boolean, onFailure: (error: unknown) => void) {
    this.#setting = setting;
    this.#mayTake = mayTake;
    this.#onFailure = onFailure;
  }

  /** Returns the next chunk; waits as long as other workers have chunks of the run. */
  async take(): Promise<Chunk | null> {
    const { runs, info } = this.#setting;
    while (this.#mayTake()) {
      const leased = await this.#tryAgain(() => runs.fetchChunk(info.run));
      if (leased === null) {
        if ((await this.#tryAgain(() => runs.get(info.run))).state !== "open") return null;
        await this.#waitForEnd();
        continue;
      }
      // If this worker's lease on the chunk ended, its calls in flight are committed first.
      const old = [...this.#chunks.keys()].filter((held) => held.leased.chunk === leased.chunk);
      await Promise.all(old.map(({ ended }) => ended));
      const chunk = await this.#tryAgain(() => Chunk.read(leased, this.#setting));
      this.#chunks.set(chunk, this.#finish(chunk));
      return chunk;
    }
    return null;
  }

  // The chunk may be the run's last one; the wait is short, since other workers end chunks too.
  async #waitForEnd(): Promise<void> {
    const { context } = this.#setting;
    const ended = new AbortController();
    void Promise.race(this.#chunks.values()).then(() => ended.abort());
    const signal = AbortSignal.any([context.signal, ended.signal]);
    await pause(IDLE_MS, { ...context, signal });
  }

  /** Resolves when every chunk is finished or given back. */
  async finished(): Promise<void> {
    await Promise.all(this.#chunks.values());
  }

  /** Renews the leases every few seconds. */
  startTouching(): void {
    const { runs, context } = this.#setting;
    for (const chunk of this.#chunks.keys()) {
      const onTouched = (isHeld: boolean) => void (chunk.isLost ||= !isHeld);
      runs.touch(chunk.leased).then(onTouched, () => {});
    }
    this.#cancelTouch = context.clock.schedule(TOUCH_MS, () => this.startTouching());
  }

  /** Renews no more leases. */
  endTouching(): void {
    this.#cancelTouch();
  }

  async #finish(chunk: Chunk): Promise<void> {
    await chunk.ended;
    try {
      await this.#tryAgain(() => this.#setting.runs.finish(chunk.leased));
    } catch (error) {
      this.#onFailure(error);
    }
    this.#chunks.delete(chunk);
  }

  /** Calls the database until it can be reached. */
  async #tryAgain<TResult>(call: () => Promise<TResult>): Promise<TResult> {
    const { context } = this.#setting;
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
