/// <reference lib="esnext.disposable" preserve="true" />
import { AnswerWriter, type WriterOptions } from "./answer-writer.ts";
import { type AnswerStatus, type ChunkRecord, readChunk, statusesOf } from "./answers.ts";
import { CHUNK_SIZE, ChunkQueue, type LeasedChunk, type RunsOptions } from "./chunk-queue.ts";
import { DatabaseError } from "./database-error.ts";
import { type Connection, type Database, openDatabase } from "./database.ts";
import { migrateDatabase } from "./migrate.ts";
import { joinRun, type NewRun, reopenRun, type RunRecord } from "./load-run.ts";
import { readRuns, readWorkers, type RunInfo, type WorkerInfo } from "./run-info.ts";
import { type QueryResult, readOnlyQuery, type RunQuery } from "./read-only-query.ts";
import { findNewIds, findRecord, type NewIds, type RunRow, runRows } from "./run-rows.ts";

// Chosen, not measured: planning looks up thousands of answers in one statement, and a worker takes and
// reads chunks while it commits.
const STATEMENT_MS = 60_000;
const CONNECTIONS = 8;

/** The report of a worker. */
export interface WorkerReport {
  readonly worker: string;
  readonly run: number;
  readonly name: string;
  readonly answered: number;
  readonly failed: number;
  readonly inFlight: number;
  readonly perSecond: number;
}

/** Runs over many records, their answers, and the chunks that workers take, in PostgreSQL. */
export class PostgresRuns implements AsyncDisposable {
  readonly #database: Database;
  readonly #queue: ChunkQueue;

  private constructor(database: Database, queue: ChunkQueue) {
    this.#database = database;
    this.#queue = queue;
  }

  /** Opens the runs of a database; disposing of them closes it. */
  static async open(database: Database, options: RunsOptions = {}): Promise<PostgresRuns> {
    await migrateDatabase(database);
    return new PostgresRuns(database, await ChunkQueue.open(database, options));
  }

  /** Returns the status of the answer of each key. */
  async statusesOf(keys: readonly string[]): Promise<AnswerStatus[]> {
    return await statusesOf(this.#database.query, keys);
  }

  /**
   * Creates a run in one transaction, or joins the run with the same digest: waits while another
   * process loads it, and loads it if that process died. Reopens a run that ended with missing or
   * failed records.
   *
   * @param records - Called only if this process loads them.
   */
  async join(
    run: NewRun,
    records: () => AsyncIterable<RunRecord>,
    signal: AbortSignal,
  ): Promise<RunInfo & { readonly isJoined: boolean }> {
    const joined = await joinRun(this.#database, this.#queue, { ...run, load: records, signal });
    return { ...(await this.get(joined.run)), isJoined: joined.isJoined };
  }

  /**
   * Reopens a run that ended, to ask again for removed or changed answers.
   *
   * @param lost - The indexes of their records in the run.
   */
  async reopen(run: number, lost: readonly number[]): Promise<void> {
    const chunks = [...new Set(lost.map((idx) => Math.floor(idx / CHUNK_SIZE)))];
    const options = { run, queue: this.#queue, lost: chunks };
    await this.#database.transaction(({ query }) => reopenRun(query, options));
  }

  /** Returns all runs, the oldest first. */
  async list(): Promise<RunInfo[]> {
    return await readRuns(this.#database.query);
  }

  /** Returns a run. @throws DatabaseError if the number is unknown. */
  async get(run: number): Promise<RunInfo> {
    const [found] = await readRuns(this.#database.query, run);
    if (found !== undefined) return found;
    throw new DatabaseError(`There is no run ${run} in this database.`, { failure: "no-run" });
  }

  /** Returns the workers of a run that reported in the last ten seconds. */
  async workers(run: number): Promise<WorkerInfo[]> {
    return await readWorkers(this.#database.query, run);
  }

  /** Stores a worker's report, and returns its run's state and why it was stopped. */
  async report(report: WorkerReport): Promise<Pick<RunInfo, "state" | "stoppedBy">> {
    const { worker, run, name, answered, failed, inFlight, perSecond } = report;
    const [row] = await this.#database.query<Pick<RunInfo, "state" | "stoppedBy">>(
      `with seen as (
         insert into evaluator.workers as one
           (worker, run, name, answered, failed, in_flight, per_second)
         values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (worker) do update set run = excluded.run, seen_at = clock_timestamp(),
           answered = excluded.answered, failed = excluded.failed,
           in_flight = excluded.in_flight, per_second = excluded.per_second
       )
       select state, stopped_by as "stoppedBy" from evaluator.runs where run = $2`,
      [worker, run, name, answered, failed, inFlight, perSecond],
    );
    return row ?? { state: "stopped", stoppedBy: "The run was removed from the database." };
  }

  /** Forgets a worker that ends. */
  async leave(worker: string): Promise<void> {
    await this.#database.query("delete from evaluator.workers where worker = $1", [worker]);
  }

  /** Stops a run for all workers. */
  async stop(run: number, why: string): Promise<void> {
    await this.#database.query(
      `update evaluator.runs set state = 'stopped', stopped_by = $2
       where run = $1 and state = 'open'`,
      [run, why],
    );
  }

  /** Returns the next free chunk of a run, or null. */
  async fetchChunk(run: number): Promise<LeasedChunk | null> {
    return await this.#queue.fetch(run);
  }

  /** Returns the indexes of the records of a run that the service refuses each time. */
  async refused(run: number): Promise<ReadonlySet<number>> {
    const rows = await this.#database.query<{ idx: number }>(
      "select idx from evaluator.failures where run = $1 and is_refusal",
      [run],
    );
    return new Set(rows.map(({ idx }) => idx));
  }

  /** Returns the records of a chunk without a valid answer or a failure, and the cost of the others. */
  async readChunk(chunk: LeasedChunk): Promise<{ missing: ChunkRecord[]; costUsd: number }> {
    return await readChunk(this.#database.query, chunk);
  }

  /** Reserves what a chunk may cost, in US dollars, and returns how much of it is left. */
  async reserve({ run, chunk }: LeasedChunk, wantedUsd: number): Promise<number> {
    const [row] = await this.#database.query<{ granted: number }>(
      "select evaluator.reserve_chunk($1, $2, $3) as granted",
      [run, chunk, wantedUsd],
    );
    return row?.granted ?? 0;
  }

  /** Renews the lease of a chunk; returns whether the worker still has it. */
  async touch(chunk: LeasedChunk): Promise<boolean> {
    return await this.#queue.touch(chunk);
  }

  /** Ends a chunk if each record has an answer or a failure, else releases it; returns which. */
  async finish(chunk: LeasedChunk): Promise<boolean> {
    const first = chunk.chunk * CHUNK_SIZE;
    const [row] = await this.#database.query<{ whole: boolean }>(
      "select evaluator.finish_chunk($1, $2, $3, $4) as whole",
      [chunk.run, chunk.chunk, first, first + CHUNK_SIZE],
    );
    const isWhole = row?.whole === true;
    if (isWhole) await this.#queue.complete(chunk);
    else await this.#queue.release(chunk);
    return isWhole;
  }

  /** Returns a writer for the outcomes of calls. */
  writer(options: Omit<WriterOptions, "query">): AnswerWriter {
    return new AnswerWriter({ ...options, query: this.#database.query });
  }

  /** Returns the records of a run with their answers, in input order, from one snapshot. */
  rows(run: number): AsyncGenerator<RunRow> {
    return runRows(this.#database, run);
  }

  /** Returns a record by its id, of the newest run that has it or of one run; null without one. */
  async find(id: string, run: number | null = null): Promise<(RunRow & { run: number }) | null> {
    return await findRecord(this.#database.query, id, run);
  }

  /**
   * Runs a person's query about a run in a read-only transaction that is rolled back.
   *
   * @throws DatabaseError with PostgreSQL's message about the query.
   */
  async query<TResult>(
    query: RunQuery,
    use: (result: QueryResult) => Promise<TResult>,
  ): Promise<TResult> {
    return await readOnlyQuery(this.#database, query, use);
  }

  /** Returns the ids that are new since the complete runs of the same name; null without any. */
  async newIds(run: Pick<RunInfo, "run" | "name">): Promise<NewIds | null> {
    return await findNewIds(this.#database.query, run);
  }

  /** Ends the supervision of dead workers. */
  async stopSupervising(): Promise<void> {
    await this.#queue.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#queue.close();
    await this.#database.close();
  }
}

/**
 * Opens the runs of a database. Makes or upgrades the schemas `evaluator` and `evaluator_jobs` if
 * needed.
 *
 * @param connection - A URL, or the options of `pg`.
 * @throws DatabaseError
 */
export async function postgresRuns(
  connection: Connection,
  options: RunsOptions = {},
): Promise<PostgresRuns> {
  const database = openDatabase(connection, { query_timeout: STATEMENT_MS, max: CONNECTIONS });
  try {
    return await PostgresRuns.open(database, options);
  } catch (error) {
    await database.close();
    throw error;
  }
}
