/// <reference lib="esnext.disposable" preserve="true" />
import { systemClock } from "evaluator-kit";
import { AnswerWriter } from "./answer-writer.ts";
import { type AnswerRow, readEvaluation, readSamples } from "./answers.ts";
import { ChunkQueue, type RunsOptions } from "./chunk-queue.ts";
import { DatabaseError } from "./database-error.ts";
import { type Connection, type Database, openDatabase } from "./database.ts";
import { migrateDatabase } from "./schema.ts";
import { RunLoader } from "./load-run.ts";
import { type Sample, unpackJson } from "./packed-text.ts";
import { readOnlyQuery } from "./read-only-query.ts";
import type { QueryResult, RunQuery } from "../store/run-query.ts";
import {
  CHUNK_SIZE,
  type ChunkRecord,
  type LeasedChunk,
  type ReportedRun,
  type RunStore,
  type RunWriter,
  type WorkerReport,
  type WriterOptions,
} from "../store/run-store.ts";

// Chosen, not measured: planning looks up thousands of answers in one statement, and a worker takes and
// reads chunks while it commits.
const STATEMENT_MS = 60_000;
const CONNECTIONS = 8;

type ChunkRow = ChunkRecord & AnswerRow;

/** Runs over many records, their answers, and the chunks that workers take, in PostgreSQL. */
export class PostgresRuns extends RunLoader implements RunStore {
  readonly isShared = true;

  /** Opens the runs of a database; disposing of them closes it. */
  static async open(database: Database, options: RunsOptions = {}): Promise<PostgresRuns> {
    await migrateDatabase(database);
    return new PostgresRuns(
      database,
      await ChunkQueue.open(database, options),
      options.clock ?? systemClock,
    );
  }

  async report(report: WorkerReport): Promise<ReportedRun> {
    const {
      worker,
      run,
      name,
      answered: answeredCount,
      failed: failedCount,
      inFlight,
      perSecond,
    } = report;
    const [row] = await this.sql<ReportedRun>(
      `with seen as (
         insert into evaluator.workers as one
           (worker, run, name, answered, failed, in_flight, per_second)
         values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (worker) do update set run = excluded.run, seen_at = evaluator.now(),
           answered = excluded.answered, failed = excluded.failed,
           in_flight = excluded.in_flight, per_second = excluded.per_second
       )
       select state, stopped_by as "stoppedBy", max_cost_usd as "maxCostUsd"
       from evaluator.runs where run = $2`,
      [worker, run, name, answeredCount, failedCount, inFlight, perSecond],
    );
    const stoppedBy = "The run was removed from the database.";
    return row ?? { state: "stopped", stoppedBy, maxCostUsd: null };
  }

  async leave(worker: string): Promise<void> {
    await this.sql("delete from evaluator.workers where worker = $1", [worker]);
  }

  async putAway(name: string, ids: readonly string[], until: string): Promise<void> {
    // Sorted, or two statements about the same records could wait for each other.
    await this.sql(
      `insert into evaluator.choices (name, id, until)
         select $1, id, $3 from unnest($2::text[]) as id order by id
       on conflict (name, id) do update set until = excluded.until`,
      [name, ids.map((id) => JSON.stringify(id)), until],
    );
  }

  async stop(run: number, why: string): Promise<void> {
    await this.sql(
      `update evaluator.runs set state = 'stopped', stopped_by = $2
       where run = $1 and state = 'open'`,
      [run, why],
    );
  }

  async fetchChunk(run: number): Promise<LeasedChunk | null> {
    return await this.queue.fetch(run);
  }

  async readChunk(leasedChunk: LeasedChunk) {
    const { run } = leasedChunk;
    const [first, beyond] = toRange(leasedChunk);
    const [takenChunk] = await this.sql<{ spent: number }>(
      "select evaluator.take_chunk($1, $2, $3, $4, $5) as spent",
      [run, leasedChunk.chunk, toLease(leasedChunk), first, beyond],
    );
    const chunkRows = await this.sql<ChunkRow>("select * from evaluator.read_records($1, $2, $3)", [
      run,
      first,
      beyond,
    ]);
    const samples = chunkRows.length === 0 ? new Map() : await readSamples(this.sql, run);
    const rows = chunkRows.map((row) =>
      Object.assign(row, { state: toState(row, run, samples.get("state")) }),
    );
    const missing = rows.filter((row) => readEvaluation(row, samples, row.state) === null);
    // Changed answers are deleted, so that they are asked for again.
    const changedKeys = missing.flatMap(({ key, digest }) => (digest === null ? [] : [key]));
    if (changedKeys.length > 0) {
      await this.sql("delete from evaluator.answers where key = any($1)", [changedKeys]);
    }
    return {
      missing: missing.map(({ idx, id, key, state }) => {
        return { idx, id: JSON.parse(id) as string, key, state };
      }),
      costUsd: takenChunk?.spent ?? 0,
    };
  }

  async reserve(leasedChunk: LeasedChunk, wantedUsd: number): Promise<number | null> {
    const [row] = await this.sql<{ granted: number | null }>(
      "select evaluator.reserve_chunk($1, $2, $3, $4) as granted",
      [leasedChunk.run, leasedChunk.chunk, toLease(leasedChunk), wantedUsd],
    );
    return row?.granted ?? null;
  }

  async touch(chunk: LeasedChunk): Promise<boolean> {
    return await this.queue.touch(chunk);
  }

  async finish(leasedChunk: LeasedChunk, spentUsd: number): Promise<boolean> {
    const [row] = await this.sql<{ whole: boolean }>(
      "select evaluator.finish_chunk($1, $2, $3, $4, $5, $6) as whole",
      [leasedChunk.run, leasedChunk.chunk, toLease(leasedChunk), spentUsd, ...toRange(leasedChunk)],
    );
    const isWhole = row?.whole === true;
    await this.queue.end(leasedChunk, isWhole);
    return isWhole;
  }

  writer(options: WriterOptions): RunWriter {
    const { clock, sql: query } = this;
    return new AnswerWriter({ ...options, query, clock });
  }

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

function toRange({ chunk }: LeasedChunk): readonly [number, number] {
  return [chunk * CHUNK_SIZE, (chunk + 1) * CHUNK_SIZE];
}

function toLease({ lease: { id, retryCount } }: LeasedChunk): string {
  return `${id} ${retryCount}`;
}

function toState({ idx, state }: ChunkRow, run: number, sample: Sample | undefined): string {
  const whole = unpackJson(state, sample);
  if (whole !== null) return whole;
  const what = `Record ${idx} of run ${run} is not as it was written`;
  const remedy = `Remove the run with evaluator.forget_run(${run}) and load it again.`;
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
