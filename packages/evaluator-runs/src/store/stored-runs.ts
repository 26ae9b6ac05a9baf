import type { QueryResult, RunQuery, RunRow } from "./run-query.ts";

/** A worker that reported recently. */
export interface WorkerInfo {
  readonly worker: string;
  /** Its machine and process. */
  readonly name: string;
  readonly answered: number;
  readonly failed: number;
  readonly inFlight: number;
  /** Answers a second, lately. */
  readonly perSecond: number;
  /** How long ago it was last seen, in milliseconds. */
  readonly seenMsAgo: number;
}

/** The questions of a run, and the service. */
export interface RunSetup {
  /** A hash of the three fields below; a worker with another hash would ask other calls. */
  readonly hash: string;
  readonly wire: string;
  readonly modelId: string;
  /** The questions as JSON. */
  readonly questions: string;
}

/** Whether a run is being loaded, is open, was stopped early, or is complete. */
export type RunState = "loading" | "open" | "stopped" | "done";

/** A run and its totals, with the current counts of unfinished chunks. */
export interface RunInfo {
  /** Runs are numbered from 1. */
  readonly run: number;
  /** A hash of the setup and of every record in order; also of the name, if a run of another name that is done has the same. */
  readonly digest: string;
  /** The name of its input. */
  readonly name: string;
  /** The creator's facts, as JSON. */
  readonly facts: string;
  readonly setup: RunSetup;
  readonly state: RunState;
  /** The reason for a stop, or null. */
  readonly stoppedBy: string | null;
  readonly records: number;
  /** The most it may cost, in US dollars; null for no bound. */
  readonly maxCostUsd: number | null;
  /** Records that have an answer. */
  readonly answered: number;
  /** Of these, the ones that this run asked for. */
  readonly asked: number;
  readonly failed: number;
  readonly inputTokens: number;
  /** Of the answers that this run asked for, in US dollars; null if the cost of one of them is not known. */
  readonly costUsd: number | null;
  /** The most that may have been charged for beside them, in US dollars: lost attempts, and calls of workers that died. */
  readonly uncountedUsd: number;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

/** Counts of all records of a journal whose runs are about one input. */
export interface Progress extends Record<
  "records" | "answered" | "failed" | "refused" | "begun",
  number
> {
  /** In US dollars; null if no answer has a cost. */
  readonly costUsd: number | null;
  /** Whether a run asks now. */
  readonly isUnderWay: boolean;
}

/** The records that no complete run before had. */
export interface NewRecords {
  readonly ids: ReadonlySet<string>;
  /** When the last of these runs was complete, in ISO 8601. */
  readonly since: string;
}

/** A record of a run. */
export interface FoundRow extends RunRow {
  readonly run: number;
  /** The questions that its answer is about, and their service. @default those of the run */
  readonly setup?: RunSetup;
}

/** Runs and their answers, as readers see them. */
export interface StoredRuns {
  /** Whether other machines may work on the runs, too. */
  readonly isShared: boolean;
  /**
   * Returns the runs about an input, in the order in which a command began or joined them last.
   *
   * @param inputName - The name of the input; a journal that is about one input has all its runs. Default: all runs.
   */
  list(inputName?: string): Promise<RunInfo[]>;
  /** Returns a run. @throws CliError or DatabaseError if the number is unknown. */
  get(runNumber: number): Promise<RunInfo>;
  /**
   * Returns the records of a run with their answers, from one snapshot.
   *
   * @param isOrdered - Whether the order is that of the input, for which a store may read it. Default: true.
   */
  rows(runNumber: number, isOrdered?: boolean): AsyncGenerator<RunRow>;
  /** Returns a record by its id, of the run begun last that has it or of one run; null without one. See `list` for the name. */
  find(recordId: string, runNumber?: number | null, inputName?: string): Promise<FoundRow | null>;
  /**
   * Returns the ids of a run that were new with the newest records of its name: they came after a run of that name
   * had been complete, and no records came after another one; null without any.
   */
  newIds(runInfo: Pick<RunInfo, "run" | "name">): Promise<NewRecords | null>;
  /** Counts the records of all runs; missing if the runs are about several inputs. */
  progress?(): Promise<Progress>;
  /** Returns the workers of a run that reported in the last ten seconds. */
  workers(runNumber: number): Promise<WorkerInfo[]>;
  /** Returns the records of an input that a person put away, each with the day of its return. */
  away(inputName: string): Promise<ReadonlyMap<string, string>>;
  /**
   * Runs a person's query about a run in a read-only transaction that is rolled back; missing if the store runs
   * no SQL of others.
   *
   * @throws DatabaseError with the database's message about the query.
   */
  query?<TResult>(
    runQuery: RunQuery,
    useResult: (queryResult: QueryResult) => Promise<TResult>,
  ): Promise<TResult>;
}
