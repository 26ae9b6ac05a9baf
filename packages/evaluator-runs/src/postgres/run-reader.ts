import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type AnswerRow, readEvaluation, readSamples, toRunKey } from "./answers.ts";
import { DatabaseError } from "./database-error.ts";
import type { Database, Query } from "./database.ts";
import { type Sample, unpackJson } from "./packed-text.ts";
import type { RunRow } from "../store/run-query.ts";
import { CHUNK_SIZE, type CallStatus } from "../store/run-store.ts";
import type { NewRecords, RunInfo, WorkerInfo } from "../store/stored-runs.ts";

// Ten of the reports that a worker writes each second, as long as the heartbeat of a chunk.
const WORKER_IS_THERE_SECONDS = 10;
/** The condition of a worker that reported lately. */
export const isThere = `seen_at > evaluator.now() - make_interval(secs => ${WORKER_IS_THERE_SECONDS})`;
// Chosen, not measured: few round trips, in little memory.
const ROWS_AT_ONCE = 500;

/** Reads runs over many records, and their answers. */
export class RunReader {
  protected readonly database: Database;
  protected readonly sql: Query;

  /** @param database - Its schema is up to date; the caller closes it. */
  constructor(database: Database) {
    this.database = database;
    this.sql = database.query;
  }

  async statusesOf(callKeys: readonly string[]): Promise<CallStatus[]> {
    const runKeys = callKeys.map(toRunKey);
    const answerRows = await this.sql<AnswerRow>(
      `select a.key, ${answerColumns} from evaluator.answers a where a.key = any($1)`,
      [runKeys],
    );
    const allSamples = answerRows.length === 0 ? new Map() : await readSamples(this.sql);
    const isWholeByKey = new Map(
      answerRows.map((row) => [row.key, readEvaluation(row, allSamples) !== null]),
    );
    const refusals = await this.sql<{ key: string }>(
      "select key from evaluator.refusals where key = any($1)",
      [runKeys.filter((key) => !isWholeByKey.has(key))],
    );
    const refusedKeys = new Set(refusals.map(({ key }) => key));
    return runKeys.map((runKey) => {
      const isWhole = isWholeByKey.get(runKey);
      if (isWhole === undefined) return refusedKeys.has(runKey) ? "refused" : "unknown";
      return isWhole ? "answered" : "changed";
    });
  }

  async list(inputName: string | null = null): Promise<RunInfo[]> {
    return await this.sql<RunInfo>(
      `${selectRuns} where $1::text is null or name = $1 order by ${begunAt("runs")}, run`,
      [inputName],
    );
  }

  async get(run: number): Promise<RunInfo> {
    const [runInfo] = await this.sql<RunInfo>(`${selectRuns} where run = $1`, [run]);
    if (runInfo !== undefined) return runInfo;
    throw new DatabaseError(`There is no run ${run} in this database.`, { failure: "no-run" });
  }

  async workers(runNumber: number): Promise<WorkerInfo[]> {
    return await this.sql<WorkerInfo>(
      `select worker, name, answered, failed, in_flight as "inFlight", per_second as "perSecond",
         (1000 * extract(epoch from evaluator.now() - seen_at))::float8 as "seenMsAgo"
       from evaluator.workers
       where run = $1 and ${isThere}
       order by started_at, worker collate "C"`,
      [runNumber],
    );
  }

  async refused(runNumber: number): Promise<ReadonlySet<number>> {
    const refusedRows = await this.sql<{ idx: number }>(
      "select idx from evaluator.failures where run = $1 and is_refusal",
      [runNumber],
    );
    return new Set(refusedRows.map(({ idx }) => idx));
  }

  async *rows(runNumber: number): AsyncGenerator<RunRow> {
    const batches = new PassThrough({ objectMode: true, highWaterMark: 1 });
    // The transaction is open while rows are read; an early return closes the connection.
    const donePromise = this.database
      .transaction(async ({ query }) => {
        await query("set transaction isolation level repeatable read, read only");
        // A plan that does not sort, so that the first row comes at once.
        for (const planMethod of ["hashjoin", "mergejoin", "sort"])
          await query(`set local enable_${planMethod} = off`);
        await pipeline(rowBatches(query, runNumber), batches);
      })
      .catch((error: unknown) => void batches.destroy(error as Error));
    try {
      for await (const rows of batches as AsyncIterable<RunRow[]>) yield* rows;
    } finally {
      await donePromise;
    }
  }

  async find(
    recordId: string,
    runNumber: number | null = null,
    inputName: string | null = null,
  ): Promise<(RunRow & { run: number }) | null> {
    const [foundRow] = await this.sql<StoredRow & { run: number }>(
      `select r.run, ${rowColumns}
       from ${rowSource} join evaluator.runs of on of.run = r.run
       where r.id = $1 and ($2::integer is null or r.run = $2) and ($3::text is null or name = $3)
       order by ${begunAt("of")} desc, r.run desc limit 1`,
      [JSON.stringify(recordId), runNumber, inputName],
    );
    if (foundRow === undefined) return null;
    return { ...toRow(foundRow, await readSamples(this.sql, foundRow.run)), run: foundRow.run };
  }

  async away(inputName: string): Promise<ReadonlyMap<string, string>> {
    const choiceRows = await this.sql<{ id: string; until: string }>(
      "select id, until from evaluator.choices where name = $1",
      [inputName],
    );
    return new Map(choiceRows.map(({ id, until }) => [JSON.parse(id) as string, until]));
  }

  async newIds({ run, name }: Pick<RunInfo, "run" | "name">): Promise<NewRecords | null> {
    const begunRuns = await this.sql<{ run: number; since: Date | null }>(begunRunsStatement, [
      name,
      run,
    ]);
    const sinceByRun = new Map(begunRuns.map((begunRun) => [begunRun.run, begunRun.since]));
    const laterRuns = begunRuns.flatMap((one) => (one.since === null ? [] : [one.run]));
    if (laterRuns.length === 0) return null;
    const recordRows = await this.sql<{ id: string; first: number; isOwn: boolean }>(
      firstRunsStatement,
      [run, begunRuns.map((begunRun) => begunRun.run), laterRuns],
    );
    const sinceOf = ({ first }: { first: number }) => sinceByRun.get(first)?.getTime() ?? 0;
    const sinceMs = recordRows.reduce((latestMs, row) => Math.max(latestMs, sinceOf(row)), 0);
    const newestRows = recordRows.filter((row) => row.isOwn && sinceOf(row) === sinceMs);
    if (newestRows.length === 0) return null;
    const ids = new Set(newestRows.map(({ id }) => JSON.parse(id) as string));
    return { ids, since: new Date(sinceMs).toISOString() };
  }
}

/** Returns when a run was begun last: a run that is joined again is newer than those that were made meanwhile. */
function begunAt(runsTable: string): string {
  return `coalesce(${runsTable}.opened_at, ${runsTable}.created_at)`;
}

// The runs of a name until a run was begun last, each with the first end at the time that it names, else the last
// one, before it was made.
const begunRunsStatement = `
  select run, (select coalesce(
        min(ended_at) filter (where ended_at >= (one.facts::json ->> 'newSince')::timestamptz), max(ended_at))
      from evaluator.runs, unnest(earlier_ends || finished_at) as ended_at
      where name = $1 and ended_at <= one.created_at) as since
  from evaluator.runs one
  where name = $1 and created_at <= (select ${begunAt("runs")} from evaluator.runs where run = $2)
`;

// The ids that were there first in a run of $3, with the first of the runs that have them.
const firstRunsStatement = `
  select id, min(run) as first, bool_or(run = $1) as "isOwn" from evaluator.records
  where run = any($2::integer[]) group by id having min(run) = any($3::integer[])
`;

const selectRuns = `
  select run, digest, name, facts, state, stopped_by as "stoppedBy", runs.records,
    max_cost_usd as "maxCostUsd",
    runs.answered + coalesce(part.answered, 0)::integer as answered,
    runs.asked + coalesce(part.asked, 0)::integer as asked,
    runs.failed + coalesce(part.failed, 0)::integer as failed,
    (runs.input_tokens + coalesce(part.input_tokens, 0))::float8 as "inputTokens",
    case when not (runs.is_unpriced or coalesce(part.is_unpriced, false))
      then runs.cost_usd + coalesce(part.cost_usd, 0) end as "costUsd",
    runs.uncounted_usd + coalesce(part.uncounted_usd, 0) as "uncountedUsd",
    created_at as "createdAt", finished_at as "finishedAt",
    json_build_object('hash', hash, 'wire', wire, 'modelId', model, 'questions', questions) as setup
  from evaluator.runs join evaluator.setups using (setup) left join lateral (
    select sum(counted.answered) as answered, sum(counted.asked) as asked,
      sum(counted.failed) as failed, sum(counted.input_tokens) as input_tokens,
      sum(counted.cost_usd) as cost_usd, bool_or(counted.is_unpriced) as is_unpriced,
      sum(c.uncounted_usd) as uncounted_usd
    from evaluator.chunks c,
      evaluator.count_chunk(c.run, c.chunk * ${CHUNK_SIZE}, (c.chunk + 1) * ${CHUNK_SIZE}) as counted
    where c.run = runs.run and c.finished_at is null
  ) as part on true
`;

// Of `evaluator.answers`, named "a".
const answerColumns = `
  a.setup, encode(a.state_digest, 'hex') as state_digest, a.evaluation,
  encode(a.digest, 'hex') as digest
`;

const rowColumns = `r.idx, r.id, r.key, r.state, r.note, f.error,
  coalesce(a.run = r.run, false) as "isOwn", ${answerColumns}`;
// A call that failed in a run may have an answer since a later one.
const rowSource = `
  evaluator.records r left join evaluator.failures f on f.run = r.run and f.idx = r.idx
    left join evaluator.answers a on a.key = r.key and (f.error is null or a.run <= r.run)
`;

type StoredRow = AnswerRow & Pick<RunRow, "idx" | "id" | "state" | "note" | "error" | "isOwn">;

/** Returns the records of a run in input order, some at once, over the connection of a transaction. */
export async function* rowBatches(query: Query, runNumber: number): AsyncGenerator<RunRow[]> {
  const runSamples = await readSamples(query, runNumber);
  await query(
    `declare evaluator_rows no scroll cursor for
     select ${rowColumns} from ${rowSource} where r.run = ${runNumber} order by r.idx`,
  );
  for (;;) {
    const storedRows = await query<StoredRow>(`fetch ${ROWS_AT_ONCE} from evaluator_rows`);
    if (storedRows.length === 0) return;
    yield storedRows.map((storedRow) => toRow(storedRow, runSamples));
  }
}

function toRow(storedRow: StoredRow, samples: ReadonlyMap<string, Sample>): RunRow {
  const { idx, id, key, note, error, isOwn } = storedRow;
  const state = unpackJson(storedRow.state, samples.get("state")) ?? "null";
  const evaluation = readEvaluation(storedRow, samples, state);
  return {
    idx,
    id: JSON.parse(id) as string,
    key,
    state,
    note: note === null ? null : unpackJson(note, samples.get("note")),
    evaluation,
    isChanged: storedRow.evaluation !== null && evaluation === null,
    isOwn,
    error,
  };
}
