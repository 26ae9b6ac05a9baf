import type { RunRow } from "./run-query.ts";
import type { RunInfo, StoredRuns, WorkerInfo } from "./stored-runs.ts";

/** A run to create, or to join if it exists. */
export type NewRun = Pick<
  RunInfo,
  "digest" | "setup" | "name" | "facts" | "records" | "maxCostUsd"
>;

/** The status of a planned call; answered and refused calls are not made again. */
export type CallStatus =
  | "answered"
  | "refused"
  /** Sent, and its end is not known: a store that notes single calls has it. */
  | "begun"
  /** Answered, and the answer was changed since it was written. */
  | "changed"
  | "unknown";

/** A record of a run, in input order. */
export type RunRecord = Pick<RunRow, "id" | "key" | "state"> & Partial<Pick<RunRow, "note">>;

/** A chunk of a run that this worker owns until it completes or releases it, or dies. */
export interface LeasedChunk {
  readonly run: number;
  readonly chunk: number;
  /** The job's id, and how often it was handed out before: an old lease completes nothing. */
  readonly lease: { readonly id: string; readonly retryCount: number };
}

/** A record without an answer, with its index in the run. */
export type ChunkRecord = Pick<RunRow, "idx" | "id" | "key" | "state">;

/**
 * So many records are a chunk. Measured before this was written, beside one record a job of PostgreSQL: half
 * the database's time a record (144 and 300 µs) and 850 bytes of its log instead of 3,056.
 */
export const CHUNK_SIZE = 100;

/** The report of a worker. */
export type WorkerReport = Omit<WorkerInfo, "seenMsAgo"> & Pick<RunInfo, "run">;

/** The state of a run for its workers, why it was stopped, and the most it may cost. */
export type ReportedRun = Pick<RunInfo, "state" | "stoppedBy" | "maxCostUsd">;

/** An answer, stored under a key of its content, with a digest that detects changes. */
export interface KeptAnswer {
  /** The record's index in its run; without it, an answer that comes after its chunk was finished is not counted. */
  readonly idx?: number;
  /** A hash of the call and the service. */
  readonly key: string;
  /** The state of the call, as JSON. */
  readonly state: string;
  /** The evaluation, as JSON. */
  readonly evaluation: string;
  readonly inputTokens: number;
  /** In US dollars; null if it is not known. */
  readonly costUsd: number | null;
}

/**
 * So many failures one after the other end a run if the last one may pass: the service is down. Chosen, not
 * measured: few enough that the run ends soon.
 */
export const FAILURES_IN_A_ROW = 20;

/** The outcome of the call about a record. */
export type RecordEnd =
  | KeptAnswer
  | {
      /** The record's index in its run. */
      readonly idx: number;
      readonly error: string;
      /** Whether the same call may succeed later. */
      readonly isRetryable: boolean;
      /** Whether every further call would fail for the same reason. */
      readonly isFinal: boolean;
      /** Whether the service refuses this call each time. @default false */
      readonly isRefusal?: boolean;
    };

/** Options of a writer. */
export interface WriterOptions {
  readonly run: number;
  /** Called once if the store does not accept answers, and with null once it does. */
  readonly onTrouble?: ((trouble: Error | null) => void) | undefined;
  /** Ends the retries. */
  readonly signal: AbortSignal;
}

/** Commits the outcomes of the calls of a run. */
export interface RunWriter {
  /**
   * Resolves once an outcome is committed, with whether the lease was held then.
   *
   * @throws DatabaseError if that is impossible, or the signal's reason.
   */
  keep(recordEnd: RecordEnd, lease?: LeasedChunk["lease"]): Promise<boolean>;
}

/** A store of runs over many records, their answers, and the chunks that workers take. */
export interface RunStore extends StoredRuns, AsyncDisposable {
  /** Returns the status of the call of each key. */
  statusesOf(callKeys: readonly string[]): Promise<CallStatus[]>;
  /** Returns the indexes of the records of a run that the service refuses each time. */
  refused(runNumber: number): Promise<ReadonlySet<number>>;
  /**
   * Creates a run in one transaction, or joins the run with the same digest: waits while another
   * process loads it, and loads it if that process died. Reopens a run that ended with missing or
   * failed records, and the failed records of an open run that no worker is on. A maximum cost replaces
   * that of the run; without one, the run keeps its own.
   *
   * @param records - Called only if this process loads them.
   */
  join(
    newRun: NewRun,
    records: () => AsyncIterable<RunRecord>,
    joinSignal: AbortSignal,
  ): Promise<RunInfo & { readonly isJoined: boolean }>;
  /**
   * Reopens a run that no worker is on, to ask again for failed records, and for removed or changed answers.
   *
   * @param lostIndexes - The indexes of their records in the run.
   */
  reopen(runNumber: number, lostIndexes: readonly number[]): Promise<void>;
  /** Stops a run for all workers. */
  stop(runNumber: number, stopReason: string): Promise<void>;

  /** Returns the next free chunk of a run, or null. */
  fetchChunk(runNumber: number): Promise<LeasedChunk | null>;
  /**
   * Returns the records of a chunk without a valid answer or a failure, and the most that the chunk can have
   * cost until now. After the death of a worker, only its calls in flight are repeated. Workers that had the
   * chunk before may reserve nothing more for it.
   */
  readChunk(
    leasedChunk: LeasedChunk,
  ): Promise<{ readonly missing: ChunkRecord[]; readonly costUsd: number }>;
  /** Reserves the possible cost of a chunk, in US dollars, and returns the part that is left; null if another worker has it. */
  reserve(leasedChunk: LeasedChunk, wantedUsd: number): Promise<number | null>;
  /** Renews the lease of a chunk; returns whether the worker still has it. */
  touch(leasedChunk: LeasedChunk): Promise<boolean>;
  /** Returns a writer for the outcomes of calls. */
  writer(writerOptions: WriterOptions): RunWriter;
  /**
   * Ends a chunk if each record has an answer or a failure, and releases it otherwise. Returns whether it ended.
   *
   * @param spentUsd - The most that the chunk can have cost until now, also before it was read, in US dollars.
   */
  finish(leasedChunk: LeasedChunk, spentUsd: number): Promise<boolean>;

  /** Stores a worker's report, and returns the state of its run. */
  report(workerReport: WorkerReport): Promise<ReportedRun>;
  /** Forgets a worker that ends. */
  leave(workerId: string): Promise<void>;
  /** Puts records of an input away until a day, or takes them back with an empty text; also while a run is under way. */
  putAway(inputName: string, recordIds: readonly string[], untilDay: string): Promise<void>;
}
