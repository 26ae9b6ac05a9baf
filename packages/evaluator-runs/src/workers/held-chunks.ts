import type { CliContext } from "evaluator-kit";
import { EvaluatorError } from "evaluator-client";
import { pause } from "../run/interruption.ts";
import { type ChunkSetting, ChunkWork } from "./chunk-work.ts";

// The lease is of ten seconds: two may be missed.
const TOUCH_MS = 3000;
const IDLE_MS = 1000;

/** What taking chunks needs. */
export interface HeldChunksOptions {
  readonly run: number;
  readonly setting: ChunkSetting;
  readonly context: Pick<CliContext, "clock" | "signal">;
  /** Whether another chunk may be begun. */
  readonly mayTake: () => boolean;
  /** Called when a chunk cannot be ended. */
  readonly onFailure: (error: unknown) => void;
}

/** The chunks of a run that this worker has: takes them, shows that it is there, gives them back. */
export class HeldChunks {
  readonly #options: HeldChunksOptions;
  readonly #chunks = new Map<ChunkWork, Promise<void>>();
  #cancelTouch: () => void = () => {};

  constructor(options: HeldChunksOptions) {
    this.#options = options;
  }

  /** Returns the next chunk; waits for one as long as the run has some that others work on. */
  async take(): Promise<ChunkWork | null> {
    const { run, setting, mayTake } = this.#options;
    const { runs } = setting;
    while (mayTake()) {
      const leased = await this.#tryAgain(() => runs.fetchChunk(run));
      if (leased === null) {
        if ((await this.#tryAgain(() => runs.get(run))).state !== "open") return null;
        await this.#waitForEnd();
        continue;
      }
      // This worker had the chunk before, and its lease ended: its calls in flight are committed first.
      const old = [...this.#chunks.keys()].filter((held) => held.leased.chunk === leased.chunk);
      await Promise.all(old.map(({ ended }) => ended));
      const chunk = await this.#tryAgain(() => ChunkWork.read(leased, setting));
      this.#chunks.set(chunk, this.#finish(chunk));
      return chunk;
    }
    return null;
  }

  /** Waits until a chunk of this worker has ended, which may be the last one; not long, as others end some too. */
  async #waitForEnd(): Promise<void> {
    const { context } = this.#options;
    const ended = new AbortController();
    void Promise.race(this.#chunks.values()).then(() => ended.abort());
    const signal = AbortSignal.any([context.signal, ended.signal]);
    await pause(IDLE_MS, { ...context, signal });
  }

  /** Resolves when every chunk is ended or given back. */
  async finished(): Promise<void> {
    await Promise.all(this.#chunks.values());
  }

  /** Shows every few seconds that this worker is still at its chunks. */
  startTouching(): void {
    const { setting, context } = this.#options;
    for (const chunk of this.#chunks.keys()) {
      setting.runs.touch(chunk.leased).then(
        (isHeld) => {
          if (!isHeld) chunk.isLost = true;
        },
        () => {},
      );
    }
    this.#cancelTouch = context.clock.schedule(TOUCH_MS, () => this.startTouching());
  }

  /** Shows it no longer. */
  endTouching(): void {
    this.#cancelTouch();
  }

  /** Ends a chunk once none of its calls is in flight, or gives it back. */
  async #finish(chunk: ChunkWork): Promise<void> {
    await chunk.ended;
    try {
      await this.#tryAgain(() => this.#options.setting.runs.finish(chunk.leased));
    } catch (error) {
      this.#options.onFailure(error);
    }
    this.#chunks.delete(chunk);
  }

  /** Calls the database until it is there. */
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
