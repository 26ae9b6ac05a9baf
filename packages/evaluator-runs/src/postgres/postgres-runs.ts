/// <reference lib="esnext.disposable" preserve="true" />
import { systemClock } from "evaluator-kit";
import { AnswerWriter, type WriterOptions } from "./answer-writer.ts";
import { type AnswerRow, readEvaluation, readSamples } from "./answers.ts";
import { CHUNK_SIZE, ChunkQueue, type LeasedChunk, type RunsOptions } from "./chunk-queue.ts";
import { DatabaseError } from "./database-error.ts";
import { type Connection, type Database, openDatabase } from "./database.ts";
import { migrateDatabase } from "./schema.ts";
import { RunLoader } from "./load-run.ts";
import { type Sample, unpackJson } from "./packed-text.ts";
import { type QueryResult, readOnlyQuery, type RunQuery } from "./read-only-query.ts";
import type { RunInfo, RunRow, WorkerInfo } from "./run-reader.ts";

// Chosen, not measured: planning looks up thousands of answers in one statement, and a worker takes and
// reads chunks while it commits.
const STATEMENT_MS = 60_000;
const CONNECTIONS = 8;

/** A record without an answer, with its index in the run. */
export type ChunkRecord = Pick<RunRow, "idx" | "id" | "key" | "state">;

type ChunkRow = ChunkRecord & AnswerRow & { readonly cost_usd: number | null };

/** The report of a worker. */
export type WorkerReport = Omit<WorkerInfo, "seenMsAgo"> & Pick<RunInfo, "run">;

/** Runs over many records, their answers, and the chunks that workers take, in PostgreSQL. */
export class PostgresRuns extends RunLoader implements AsyncDisposable {
  /** Opens the runs of a database; disposing of them closes it. */
  static async open(database: Database, options: RunsOptions = {}): Promise<PostgresRuns> {
    await migrateDatabase(database);
    return new PostgresRuns(
      database,
      await ChunkQueue.open(database, options),
      options.clock ?? systemClock,
    );
  }

  /** Stores a worker's report, and returns its run's state and why it was stopped. */
  async report(report: WorkerReport): Promise<Pick<RunInfo, "state" | "stoppedBy">> {
    const { worker, run, name, answered, failed, inFlight, perSecond } = report;
    const [row] = await this.sql<Pick<RunInfo, "state" | "stoppedBy">>(
      `with seen as (
         insert into evaluator.workers as one
           (worker, run, name, answered, failed, in_flight, per_second)
         values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (worker) do update set run = excluded.run, seen_at = evaluator.now(),
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
    await this.sql("delete from evaluator.workers where worker = $1", [worker]);
  }

  /** Stops a run for all workers. */
  async stop(run: number, why: string): Promise<void> {
    await this.sql(
      `update evaluator.runs set state = 'stopped', stopped_by = $2
       where run = $1 and state = 'open'`,
      [run, why],
    );
  }

  /** Returns the next free chunk of a run, or null. */
  async fetchChunk(run: number): Promise<LeasedChunk | null> {
    return await this.queue.fetch(run);
  }

  /**
   * Returns the records of a chunk without a valid answer or a failure, so that a chunk of a dead worker
   * repeats only the calls in flight; and the cost of the other records.
   */
  async readChunk({ run, chunk }: LeasedChunk) {
    const first = chunk * CHUNK_SIZE;
    const range = [run, first, first + CHUNK_SIZE];
    const kept = await this.sql<ChunkRow>(
      "select * from evaluator.read_records($1, $2, $3)",
      range,
    );
    const samples = kept.length === 0 ? new Map() : await readSamples(this.sql, run);
    const rows = kept.map((row) =>
      Object.assign(row, { state: stateOf(row, run, samples.get("state")) }),
    );
    const { there = [], missing = [] } = Object.groupBy(rows, (row) =>
      readEvaluation(row, samples, row.state) === null ? "missing" : "there",
    );
    // Changed answers are deleted, so that they are asked for again.
    const changed = missing.flatMap(({ key, digest }) => (digest === null ? [] : [key]));
    if (changed.length > 0) {
      await this.sql("delete from evaluator.answers where key = any($1)", [changed]);
    }
    return {
      missing: missing.map(({ idx, id, key, state }) => {
        return { idx, id: JSON.parse(id) as string, key, state };
      }),
      costUsd: there.reduce((sum, row) => sum + (row.cost_usd ?? 0), 0),
    };
  }

  /** Reserves the possible cost of a chunk, in US dollars, and returns the part that is left. */
  async reserve({ run, chunk }: LeasedChunk, wantedUsd: number): Promise<number> {
    const [row] = await this.sql<{ granted: number }>(
      "select evaluator.reserve_chunk($1, $2, $3) as granted",
      [run, chunk, wantedUsd],
    );
    return row?.granted ?? 0;
  }

  /** Renews the lease of a chunk; returns whether the worker still has it. */
  async touch(chunk: LeasedChunk): Promise<boolean> {
    return await this.queue.touch(chunk);
  }

  /** Ends a chunk if each record has an answer or a failure, else releases it; returns which. */
  async finish(chunk: LeasedChunk): Promise<boolean> {
    const first = chunk.chunk * CHUNK_SIZE;
    const [row] = await this.sql<{ whole: boolean }>(
      "select evaluator.finish_chunk($1, $2, $3, $4) as whole",
      [chunk.run, chunk.chunk, first, first + CHUNK_SIZE],
    );
    const isWhole = row?.whole === true;
    await this.queue.end(chunk, isWhole);
    return isWhole;
  }

  /** Returns a writer for the outcomes of calls. */
  writer(options: Omit<WriterOptions, "query" | "clock">): Pick<AnswerWriter, "keep"> {
    const { clock, sql: query } = this;
    return new AnswerWriter({ ...options, query, clock });
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
    return await readOnlyQuery(this.database, query, use);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.queue.close();
    await this.database.close();
  }
}

function stateOf({ idx, state }: ChunkRow, run: number, sample: Sample | undefined): string {
  const whole = unpackJson(state, sample);
  if (whole !== null) return whole;
  const what = `Record ${idx} of run ${run} is not as it was written`;
  const remedy = `Remove the run with evaluator.forget_run(${run}), and load it again.`;
  throw new DatabaseError(`${what}. ${remedy}`, { failure: "other" });
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

/** A store of runs, with the methods of {@link PostgresRuns} and PostgreSQL's rules of commits. */
export type RunStore = Pick<PostgresRuns, keyof PostgresRuns>;
/** Commits the outcomes of the calls of a run. */
export type RunWriter = ReturnType<RunStore["writer"]>;
