import type { NewRun, RunInfo, RunRecord, RunSetup, WorkerReport } from "evaluator-runs/postgres";

/** What is counted of chunks and runs; `unpriced` are the answers of unknown cost. */
export type Counts = Record<
  "answered" | "asked" | "failed" | "inputTokens" | "costUsd" | "unpriced",
  number
>;

export const noCounts: Counts = {
  answered: 0,
  asked: 0,
  failed: 0,
  inputTokens: 0,
  costUsd: 0,
  unpriced: 0,
};

/** A run, with the counts of its finished chunks. */
export interface StoredRun extends Counts {
  readonly run: number;
  readonly made: NewRun;
  readonly setup: StoredSetup;
  state: RunInfo["state"];
  stoppedBy: string | null;
  maxCostUsd: number | null;
  chunksLeft: number;
  uncountedUsd: number;
  failedInARow: number;
  readonly createdAtMs: number;
  /** When a command loaded or joined it last. */
  openedAtMs: number | null;
  finishedAtMs: number | null;
  /** When it was complete before it was joined or opened again. */
  readonly earlierEndsMs: number[];
}

/** The questions and the service of runs. */
export interface StoredSetup extends RunSetup {
  readonly number: number;
  sample: string | null;
}

/** A record of a run. */
export type StoredRecord = Required<RunRecord> & { readonly idx: number };

/** An answer; its digests are in hexadecimal. */
export interface StoredAnswer extends Pick<Counts, "inputTokens"> {
  readonly costUsd: number | null;
  readonly key: string;
  readonly run: number;
  readonly setup: number | null;
  readonly stateDigest: string;
  readonly evaluation: string;
  readonly digest: string;
}

/** The failure of a record. */
export interface StoredFailure {
  readonly error: string;
  readonly isRefusal: boolean;
}

/** A chunk that a worker has had. */
export interface StoredChunk extends Counts {
  /** The worker that has it. */
  lease: string | null;
  reservedUsd: number;
  uncountedUsd: number;
  finishedAtMs: number | null;
}

/** A chunk of a run, and the worker that has it. */
export interface ChunkLease {
  readonly run: number;
  readonly chunk: number;
  readonly lease: string;
}

/** Counts what was spent on a chunk beside the answers that are kept. */
export function countLost(row: StoredChunk, spentUsd: number, keptUsd: number): void {
  // Sums of many prices differ by roundings.
  const usd = spentUsd - keptUsd;
  if (usd > 1e-12) row.uncountedUsd = Math.max(row.uncountedUsd, usd);
}

/** The values of the statement that keeps how calls ended, in the order of its parameters. */
export type KeptEnds = readonly [
  run: number,
  keys: readonly string[],
  setups: readonly (number | null)[],
  stateDigests: readonly Buffer[],
  evaluations: readonly string[],
  digests: readonly Buffer[],
  inputTokens: readonly number[],
  costs: readonly (number | null)[],
  failed: readonly number[],
  errors: readonly string[],
  sinceAnswer: number,
  finalError: string | null,
  lastError: string | null,
  mostInARow: number,
  besideOthers: boolean,
  chunks: readonly number[],
  leases: string,
];

/** The state of a worker at its last report. */
export interface StoredWorker extends WorkerReport {
  readonly startedAtMs: number;
  readonly seenAtMs: number;
}
