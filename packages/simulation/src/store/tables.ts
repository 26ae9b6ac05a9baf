import type { NewRun, RunSetup } from "evaluator-runs/postgres";
import { CHUNK_SIZE, Sample, toDatabaseError } from "evaluator-runs/store-parts";
import {
  type ChunkLease,
  countLost,
  type Counts,
  type KeptEnds,
  noCounts,
  type StoredAnswer,
  type StoredChunk,
  type StoredFailure,
  type StoredRecord,
  type StoredRun,
  type StoredSetup,
  type StoredWorker,
} from "./rows.ts";

/** The rows of all runs. Rows are replaced, so that who has read one keeps it as it was. */
export class Tables {
  readonly runs = new Map<number, StoredRun>();
  readonly setups: StoredSetup[] = [];
  /** By run, in order of their index. */
  readonly records = new Map<number, readonly StoredRecord[]>();
  readonly answers = new Map<string, StoredAnswer>();
  readonly workers = new Map<string, StoredWorker>();
  /** The days until which records are put away, by the name of their input and by id. */
  readonly choices = new Map<string, ReadonlyMap<string, string>>();
  /** The samples of answers, by the number of their setup. */
  readonly samples = new Map<string, Sample>();
  readonly #failures = new Map<number, Map<number, StoredFailure>>();
  readonly #chunks = new Map<number, Map<number, StoredChunk>>();

  failuresOf(run: number): Map<number, StoredFailure> {
    return entryOf(this.#failures, run);
  }

  chunksOf(run: number): Map<number, StoredChunk> {
    return entryOf(this.#chunks, run);
  }

  /** Returns the number of a run by its digest; a new run gets one. */
  numberOf(made: NewRun, nowMs: number): number {
    const known = [...this.runs.values()].find((run) => run.made.digest === made.digest);
    if (known !== undefined) return known.run;
    const run = Math.max(0, ...this.runs.keys()) + 1;
    this.runs.set(run, {
      run,
      made,
      setup: this.#setupOf(made.setup),
      state: "loading",
      stoppedBy: null,
      maxCostUsd: made.maxCostUsd,
      chunksLeft: chunkCount(made.records),
      failedInARow: 0,
      createdAtMs: nowMs,
      openedAtMs: null,
      finishedAtMs: null,
      earlierEndsMs: [],
      uncountedUsd: 0,
      ...noCounts,
    });
    return run;
  }

  #setupOf(setup: RunSetup): StoredSetup {
    const known = this.setups.find(({ hash }) => hash === setup.hash);
    if (known !== undefined) return known;
    const made = { ...setup, number: this.setups.length + 1, sample: null };
    this.setups.push(made);
    return made;
  }

  /** Returns the refusals of all runs by the key of the call. */
  refusals(): Map<string, string> {
    const refusals = new Map<string, string>();
    for (const [run, failures] of this.#failures) {
      for (const [idx, { error, isRefusal }] of failures) {
        const key = this.records.get(run)?.[idx]?.key;
        if (isRefusal && key !== undefined) refusals.set(key, error);
      }
    }
    return refusals;
  }

  /** Makes an answer the sample of a run's setup, unless it has one; null if the run was removed. */
  keepSample(run: number, evaluation: string): { setup: number; sample: string } | null {
    const setup = this.runs.get(run)?.setup;
    if (setup === undefined) return null;
    const sample = (setup.sample ??= evaluation);
    const name = String(setup.number);
    if (!this.samples.has(name)) this.samples.set(name, new Sample(sample));
    return { setup: setup.number, sample };
  }

  /**
   * Keeps how calls ended, in one transaction.
   *
   * @throws DatabaseError as PostgreSQL does, without any change.
   */
  keepEnds(ends: KeptEnds): void {
    const [run, keys, , , , , , , failed, errors] = ends;
    if (errors.some((error) => error.includes("\0"))) {
      throw toDatabaseError({ severity: "ERROR", code: "22021" }); // no text
    }
    if (new Set(failed).size < failed.length) {
      throw toDatabaseError({ severity: "ERROR", code: "21000" }); // a row changed twice
    }
    for (const at of keys.keys()) this.#addAnswer(ends, at);
    const failures = this.failuresOf(run);
    for (const [at, idx] of failed.entries()) {
      const isRefusal = failures.get(idx)?.isRefusal ?? false;
      failures.set(idx, { error: errors[at] ?? "", isRefusal });
    }
    this.#countInARow(ends);
    for (const chunk of new Set(ends[15])) this.#countAgain(run, chunk);
  }

  /** Counts a chunk again to which an answer came after it was finished. */
  #countAgain(run: number, chunk: number): void {
    const [row, of] = [this.chunksOf(run).get(chunk), this.runs.get(run)];
    if (row === undefined || row.finishedAtMs === null || of === undefined) return;
    addCounts(of, row, -1);
    const { records: _records, ...counts } = this.count(run, chunk);
    Object.assign(row, counts);
    addCounts(of, row, 1);
  }

  #addAnswer(ends: KeptEnds, at: number): void {
    const [run, keys, setups, stateDigests, evaluations, digests, inputTokens, costs] = ends;
    const key = keys[at] ?? "";
    if (this.answers.has(key)) return;
    this.answers.set(key, {
      key,
      run,
      setup: setups[at] ?? null,
      stateDigest: stateDigests[at]?.toString("hex") ?? "",
      evaluation: evaluations[at] ?? "",
      digest: digests[at]?.toString("hex") ?? "",
      inputTokens: inputTokens[at] ?? 0,
      costUsd: costs[at] ?? null,
    });
  }

  #countInARow([number, keys, , , , , , , , , sinceAnswer, finalError, lastError, most]: KeptEnds) {
    const run = this.runs.get(number);
    const hasAnswers = keys.length > 0;
    if (run === undefined) return;
    if (sinceAnswer === 0 && !(hasAnswers && run.failedInARow > 0)) return;
    run.failedInARow = (hasAnswers ? 0 : run.failedInARow) + sinceAnswer;
    const lastOfRow = run.failedInARow >= most ? lastError : null;
    if (run.state === "open" && (finalError ?? lastOfRow) !== null) run.state = "stopped";
    run.stoppedBy ??= finalError ?? lastOfRow;
  }

  /** Counts the records of a chunk, and those that have an end. */
  count(run: number, chunk: number): Counts & { readonly records: number } {
    const records = this.recordsOf(run, chunk);
    const failures = this.failuresOf(run);
    const counts = { records: records.length, ...noCounts };
    for (const { idx, key } of records) {
      const answer = this.answers.get(key);
      if (answer === undefined) counts.failed += Number(failures.has(idx));
      else counts.answered += 1;
      if (answer?.run !== run) continue;
      counts.asked += 1;
      counts.inputTokens += answer.inputTokens;
      counts.costUsd += answer.costUsd ?? 0;
      counts.unpriced += Number(answer.costUsd === null);
    }
    return counts;
  }

  recordsOf(run: number, chunk: number): readonly StoredRecord[] {
    const records = this.records.get(run) ?? [];
    return records.slice(chunk * CHUNK_SIZE, (chunk + 1) * CHUNK_SIZE);
  }

  /** Returns whether each record of a chunk has its end, and counts the chunk once if so. */
  finish({ run, chunk, lease }: ChunkLease, spentUsd: number, nowMs: number): boolean {
    const { records, ...counts } = this.count(run, chunk);
    const isWhole = counts.answered + counts.failed >= records;
    const row = this.chunksOf(run).get(chunk);
    const of = this.runs.get(run);
    if (row === undefined) return isWhole;
    const before = row.uncountedUsd;
    countLost(row, spentUsd, counts.costUsd);
    if (row.finishedAtMs !== null) {
      if (of !== undefined) of.uncountedUsd += row.uncountedUsd - before;
      return true;
    }
    const isHeld = row.lease === lease;
    if (isHeld) row.lease = null;
    if (!isWhole && isHeld) row.reservedUsd = counts.costUsd + row.uncountedUsd;
    if (!isWhole) return false;
    Object.assign(row, counts, { finishedAtMs: nowMs });
    if (of === undefined) return true;
    addCounts(of, counts, 1);
    of.uncountedUsd += row.uncountedUsd;
    const isLast = of.chunksLeft === 1 && (of.state !== "stopped" || of.failed === 0);
    of.chunksLeft -= 1;
    if (isLast) of.state = "done";
    of.finishedAtMs = isLast ? nowMs : null;
    return true;
  }

  /** Returns the workers of a run that reported lately. */
  workersOf(run: number, nowMs: number): StoredWorker[] {
    return [...this.workers.values()].filter(
      ({ run: of, seenAtMs }) => of === run && seenAtMs > nowMs - WORKER_IS_THERE_MS,
    );
  }

  /** Notes that a command joined a run; a complete one ends at once again. */
  joined(run: number, nowMs: number): void {
    const of = this.runs.get(run);
    if (of === undefined) return;
    if (of.finishedAtMs !== null) of.earlierEndsMs.push(of.finishedAtMs);
    of.openedAtMs = nowMs;
    of.finishedAtMs = of.state === "done" ? nowMs : null;
  }

  /**
   * Opens a run again that no worker is on, and returns its chunks to ask about, and whether it was open; null
   * if it stays as it is.
   */
  reopen(run: number, lost: readonly number[], nowMs: number) {
    const of = this.runs.get(run);
    if (of === undefined || of.state === "loading") return null;
    if (of.state === "open" && this.workersOf(run, nowMs).length > 0) return null;
    const failures = this.failuresOf(run);
    for (const [idx, { isRefusal }] of failures) if (!isRefusal) failures.delete(idx);
    const rows = this.chunksOf(run);
    const isDone = (chunk: number) => {
      const row = rows.get(chunk);
      return row !== undefined && row.finishedAtMs !== null && row.failed === 0;
    };
    const all = [...Array(chunkCount(of.made.records)).keys()];
    const isOpen = of.state === "open";
    const chunks = all.filter(
      (chunk) =>
        (lost.includes(chunk) || !isDone(chunk)) &&
        (!isOpen || (rows.get(chunk)?.finishedAtMs ?? null) !== null),
    );
    if (chunks.length === 0 && of.state === "done") return null;
    for (const chunk of chunks) {
      const row = rows.get(chunk);
      if (row === undefined) continue;
      const isFinished = row.finishedAtMs !== null;
      const costUsd = isFinished ? row.costUsd : this.count(run, chunk).costUsd;
      if (isFinished) {
        addCounts(of, row, -1);
        of.uncountedUsd -= row.uncountedUsd;
      } else countLost(row, row.reservedUsd, costUsd);
      const reservedUsd = costUsd + row.uncountedUsd;
      Object.assign(row, { finishedAtMs: null, lease: null, reservedUsd });
    }
    if (of.finishedAtMs !== null) of.earlierEndsMs.push(of.finishedAtMs);
    // An answer that came late may have completed a run that a failure had stopped.
    const state = isOpen || chunks.length > 0 ? "open" : "done";
    const again = { state, stoppedBy: null, failedInARow: 0, finishedAtMs: null } as const;
    const chunksLeft = chunks.length + (isOpen ? of.chunksLeft : 0);
    Object.assign(of, again, { chunksLeft });
    return { chunks, isOpen };
  }

  /** Removes a run; its answers stay. */
  forget(run: number): void {
    for (const table of [this.runs, this.#chunks, this.#failures, this.records]) table.delete(run);
    for (const { worker, run: of } of this.workers.values()) {
      if (of === run) this.workers.delete(worker);
    }
  }
}

// As in PostgreSQL's store.
const WORKER_IS_THERE_MS = 10_000;

export function chunkCount(records: number): number {
  return Math.ceil(records / CHUNK_SIZE);
}

const countNames = Object.keys(noCounts) as (keyof Counts)[];

/** Adds counts, or subtracts them. */
export function addCounts(sums: Counts, counts: Counts, sign: 1 | -1): void {
  for (const name of countNames) sums[name] += sign * counts[name];
}

function entryOf<TValue>(all: Map<number, Map<number, TValue>>, run: number): Map<number, TValue> {
  const entry = all.get(run) ?? new Map<number, TValue>();
  all.set(run, entry);
  return entry;
}
