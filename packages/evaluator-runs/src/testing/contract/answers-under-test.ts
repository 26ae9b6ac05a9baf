import type { Evaluation } from "evaluator-client";
import { callKey, setupHash, toKeptText } from "../../journal/kept-answer.ts";
import type { StoredRuns } from "../../store/stored-runs.ts";
import { newRun } from "../sample-runs.ts";
import { sampleSetup } from "../samples.ts";
import { signal, type StoreUnderTest, takeChunk } from "./store-under-test.ts";

/** A record, and the key of its answer. */
export interface KeyedRecord {
  readonly id: string;
  readonly key: string;
  readonly state: { readonly about: string };
}

/** How a call ended. */
type KeptEnd =
  | { readonly evaluation: Evaluation }
  | { readonly error: string; readonly isRefusal?: boolean };

/** The part that all journals have in common, in SQLite and elsewhere. */
export interface AnswersUnderTest {
  /** Whether the end of a call may be kept while another process reads. */
  readonly isConcurrent: boolean;
  /** Begins a run over records; a later one may have the same records again. */
  begin(records: readonly KeyedRecord[]): Promise<void>;
  /** Resolves once the end of a call is kept. */
  keep(record: KeyedRecord, end: KeptEnd): Promise<void>;
  /** Ends the run; each record has its end. */
  finish(): Promise<void>;
  /** Reads the runs, as a process that begins now. */
  read<TRead>(use: (runs: StoredRuns) => Promise<TRead>): Promise<TRead>;
  /** Reads the statuses of calls, as a process that begins now. */
  statusesOf(keys: readonly string[]): Promise<readonly string[]>;
  /** Replaces the probability in a kept answer. */
  change(record: KeyedRecord): Promise<void>;
  /** Puts records of the input away until a day. */
  putAway(ids: readonly string[], until: string): Promise<void>;
}

/** Returns records with these ids; each has its own state. */
export function recordsAbout(...ids: readonly string[]): KeyedRecord[] {
  return ids.map((id) => {
    const state = { about: id };
    return { id, state, key: callKey(setupHash(sampleSetup), JSON.stringify(state)) };
  });
}

/** Returns the answers of a store of runs. */
export function answersOf(store: StoreUnderTest): AnswersUnderTest {
  const { runs, isConcurrent } = store;
  let run = 0;
  let records: readonly KeyedRecord[] = [];
  return {
    isConcurrent,
    async begin(given) {
      records = given;
      const rows = given.map(({ state, ...record }) => ({
        ...record,
        state: JSON.stringify(state),
      }));
      const made = newRun(rows, { digest: `run over ${given.length}, after ${run}` });
      ({ run } = await runs.join(made, () => ReadableStream.from(rows), signal));
    },
    async keep({ id, key, state }, end) {
      const writer = runs.writer({ run, signal });
      const idx = records.findIndex((record) => record.id === id);
      if ("error" in end) {
        await writer.keep({ idx, isRetryable: false, isFinal: false, ...end });
      } else {
        const kept = { state: JSON.stringify(state), evaluation: toKeptText(end.evaluation) };
        await writer.keep({ idx, key, ...kept, inputTokens: 300, costUsd: 0.25 });
      }
    },
    async finish() {
      await runs.finish(await takeChunk(runs, run), 0);
    },
    read: async (use) => await use(await store.openSession()),
    statusesOf: async (keys) => await (await store.openSession()).statusesOf(keys),
    change: ({ key }) => store.changeAnswer(key),
    putAway: (ids, until) => runs.putAway("inbox.json", ids, until),
  };
}
