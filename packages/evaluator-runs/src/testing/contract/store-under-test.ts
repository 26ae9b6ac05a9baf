import { expect } from "vitest";
import type { RunsOptions } from "../../postgres/chunk-queue.ts";
import type { RunRow } from "../../store/run-query.ts";
import type { LeasedChunk, NewRun, RunRecord, RunStore } from "../../store/run-store.ts";
import type { RunInfo } from "../../store/stored-runs.ts";
import { answerTo, newRun } from "../sample-runs.ts";

/** An empty store of runs, and the means to change it from outside. */
export interface StoreUnderTest {
  readonly runs: RunStore;
  /** Whether a session may commit while another one reads. */
  readonly isConcurrent: boolean;
  /** Opens another session on the same store, which the store closes. */
  openSession(options?: RunsOptions): Promise<RunStore>;
  /** Replaces the kept text of an answer. */
  changeAnswer(key: string): Promise<void>;
  /** Replaces the state of a record by another one. */
  changeState(run: number, idx: number): Promise<void>;
  /** Removes a run; its answers stay. */
  forgetRun(run: number): Promise<void>;
  /** Lets time pass on all clocks, and supervising sessions do what is due. */
  passTime?(ms: number): Promise<void>;
  /** Sets the clock of the store alone. */
  stepClock?(ms: number): Promise<void>;
}

export const { signal } = new AbortController();

/** Loads or joins a run over records. */
export async function load(
  runs: RunStore,
  records: readonly RunRecord[],
  fields: Partial<NewRun> = {},
): Promise<RunInfo & { readonly isJoined: boolean }> {
  return await runs.join(newRun(records, fields), () => ReadableStream.from(records), signal);
}

/** Returns the rows of a run. */
export async function allRows(runs: RunStore, run: number): Promise<RunRow[]> {
  const rows: RunRow[] = [];
  for await (const row of runs.rows(run)) rows.push(row);
  return rows;
}

/** Returns the next chunk of a run, whose records were read. @throws if there is none. */
export async function takeChunk(runs: RunStore, run: number): Promise<LeasedChunk> {
  const chunk = await runs.fetchChunk(run);
  if (chunk === null) throw new Error("There is no chunk.");
  await runs.readChunk(chunk);
  return chunk;
}

/** Answers all records of a run of one chunk. */
export async function answerAll(runs: RunStore, run: number): Promise<void> {
  const chunk = await takeChunk(runs, run);
  const writer = runs.writer({ run, signal });
  const { missing } = await runs.readChunk(chunk);
  await Promise.all(missing.map((record) => writer.keep(answerTo(record))));
  expect(await runs.finish(chunk, 0)).toBe(true);
}
