import { type Clock, pause } from "evaluator-kit";
import { inGroups } from "../input/record-source.ts";
import { toRunKey } from "./answers.ts";
import type { ChunkQueue } from "./chunk-queue.ts";
import type { Database, Query } from "./database.ts";
import { CHUNK_SIZE, type NewRun, type RunRecord } from "../store/run-store.ts";
import type { RunInfo } from "../store/stored-runs.ts";
import { isThere, RunReader } from "./run-reader.ts";

// Chosen, not measured: a load takes minutes.
const LOADING_POLL_MS = 1000;
// The class of the advisory lock on a run: "load" in ASCII.
const LOAD_LOCK = 0x6c_6f_61_64;

/** Makes the records and the chunks of runs. */
export class RunLoader extends RunReader {
  protected readonly queue: ChunkQueue;
  protected readonly clock: Clock;

  protected constructor(database: Database, queue: ChunkQueue, clock: Clock) {
    super(database);
    this.queue = queue;
    this.clock = clock;
  }

  async join(
    newRun: NewRun,
    records: () => AsyncIterable<RunRecord>,
    signal: AbortSignal,
  ): Promise<RunInfo & { readonly isJoined: boolean }> {
    const runNumber = await loadNumber(this.database, newRun);
    await this.queue.prepare(runNumber);
    for (;;) {
      signal.throwIfAborted();
      const isJoined = await this.#load(runNumber, newRun.maxCostUsd, records);
      if (isJoined !== null) return { ...(await this.get(runNumber)), isJoined };
      await pause(LOADING_POLL_MS, { clock: this.clock, signal });
    }
  }

  /**
   * Loads a run and opens it, in one transaction: a process that dies leaves a run without a record,
   * and the next one loads it. Returns whether it was loaded before, null while another process loads it.
   */
  async #load(
    runNumber: number,
    maxCostUsd: number | null,
    records: () => AsyncIterable<RunRecord>,
  ): Promise<boolean | null> {
    return await this.database.transaction(async ({ query }) => {
      const [loadLock] = await query<{ taken: boolean }>(
        "select pg_try_advisory_xact_lock($1, $2) as taken",
        [LOAD_LOCK, runNumber],
      );
      if (loadLock?.taken !== true) return null;
      const [runRow] = await query<{ state: string; chunks: number }>(
        `select state, ceil(records / ${CHUNK_SIZE}::float8)::integer as chunks
         from evaluator.runs where run = $1 for update`,
        [runNumber],
      );
      if (runRow?.state !== "loading") {
        const capStatement = `select evaluator.cap_run($1, $2, ${CHUNK_SIZE})`;
        if (maxCostUsd !== null) await query(capStatement, [runNumber, maxCostUsd]);
        await this.#reopen(query, runNumber, []);
        await query(joinStatement, [runNumber]);
        await query(refuseStatement, [runNumber]);
        return true;
      }
      await insertRecords(query, runNumber, records());
      await query(refuseStatement, [runNumber]);
      await this.queue.clear(query, runNumber, null);
      await this.queue.add(query, runNumber, Array(runRow.chunks).keys());
      await query(
        `update evaluator.runs set state = case when records = 0 then 'done' else 'open' end,
           finished_at = case when records = 0 then evaluator.now() end,
           opened_at = evaluator.now() where run = $1`,
        [runNumber],
      );
      return false;
    });
  }

  async reopen(runNumber: number, lostIndexes: readonly number[]): Promise<void> {
    const lostChunks = [...new Set(lostIndexes.map((idx) => Math.floor(idx / CHUNK_SIZE)))];
    await this.database.transaction(({ query }) => this.#reopen(query, runNumber, lostChunks));
  }

  // Reads no answers of finished chunks, which may be millions.
  async #reopen(query: Query, runNumber: number, lostIndexes: readonly number[]): Promise<void> {
    const [idleRun] = await query<{ state: string }>(idleStatement, [runNumber]);
    if (idleRun === undefined) return;
    const { state } = idleRun;
    const isOpen = state === "open";
    await query("delete from evaluator.failures where run = $1 and not is_refusal", [runNumber]);
    const chunkRows = await query<{ chunk: number }>(unfinishedStatement, [runNumber, lostIndexes]);
    const openedChunks = chunkRows.map(({ chunk }) => chunk);
    if (openedChunks.length === 0 && state === "done") return;
    await query(`select evaluator.open_chunks($1, $2, ${CHUNK_SIZE})`, [runNumber, openedChunks]);
    await query(reopenStatement, [runNumber, openedChunks]);
    await query("select evaluator.count_again($1, null, null)", [runNumber]);
    // A worker that died, or lost its lease, may have left that of a chunk that it finished.
    await this.queue.clear(query, runNumber, isOpen ? openedChunks : null);
    await this.queue.add(query, runNumber, openedChunks);
  }
}

/** Returns the number of a run; a new run gets one. */
async function loadNumber(
  database: Database,
  { digest, setup, name, facts, records, maxCostUsd }: NewRun,
): Promise<number> {
  return await database.transaction(async ({ query }) => {
    // One at a time, so that numbers have no gaps.
    await query("lock table evaluator.setups in share row exclusive mode");
    const [knownEntry] = await query<{ run: number }>(
      "select run from evaluator.runs where digest = $1",
      [digest],
    );
    if (knownEntry !== undefined) return knownEntry.run;
    await query(
      `insert into evaluator.setups (hash, wire, model, questions) values ($1, $2, $3, $4)
       on conflict (hash) do nothing`,
      [setup.hash, setup.wire, setup.modelId, setup.questions],
    );
    const [addedRun] = await query<{ run: number }>(
      `insert into evaluator.runs
           (run, digest, setup, name, facts, records, chunks_left, max_cost_usd)
         select coalesce((select max(run) from evaluator.runs), 0) + 1, $1, setup, $2, $3, $4, $5, $6
         from evaluator.setups where hash = $7 returning run`,
      [digest, name, facts, records, Math.ceil(records / CHUNK_SIZE), maxCostUsd, setup.hash],
    );
    return addedRun?.run ?? 0;
  });
}

async function insertRecords(query: Query, runNumber: number, records: AsyncIterable<RunRecord>) {
  let firstIndex = 0;
  for await (const recordGroup of inGroups(records, RECORDS_AT_ONCE)) {
    const groupIds = recordGroup.map(({ id }) => JSON.stringify(id));
    const groupKeys = recordGroup.map(({ key }) => toRunKey(key));
    const groupStates = recordGroup.map(({ state }) => state);
    const notes = recordGroup.map(({ note = null }) => note);
    await query(insertStatement, [runNumber, firstIndex, groupIds, groupKeys, groupStates, notes]);
    firstIndex += recordGroup.length;
  }
}

// Chosen, not measured: few statements, in little memory.
const RECORDS_AT_ONCE = 500;

const insertStatement = `
  insert into evaluator.records (run, idx, id, key, state, note)
    select $1, $2::integer + at - 1, id, key, state, note
    from unnest($3::text[], $4::text[], $5::text[], $6::text[])
      with ordinality as given (id, key, state, note, at)
`;

// A refusal in another run holds in this one, also if it came after this one was loaded.
const refuseStatement = `
  insert into evaluator.failures (run, idx, error, is_refusal)
    select r.run, r.idx, x.error, true from evaluator.records r join evaluator.refusals x using (key)
    where r.run = $1 and exists (select from evaluator.refusals)
    on conflict do nothing
`;

// All chunks except those that finished without a failure and lost no answer; those of an open run that are
// not finished are in the queue.
const unfinishedStatement = `
  select n as chunk from evaluator.runs
    cross join generate_series(0, ceil(records / ${CHUNK_SIZE}::float8)::integer - 1) as n
    left join evaluator.chunks c on c.run = runs.run and c.chunk = n
  where runs.run = $1 and (n = any($2) or c.finished_at is null or c.failed > 0)
    and (state <> 'open' or c.finished_at is not null)
  order by chunk
`;

// An interrupted run stays open; without a worker, its failed records are asked about again as in one that ended.
const idleStatement = `
  select state from evaluator.runs where run = $1 and (state in ('stopped', 'done')
    or state = 'open' and not exists (select from evaluator.workers w where w.run = $1 and ${isThere}))
  for update
`;

// The ends of a run that is joined or opened again: one is needed for the runs of its name that began until its next
// end, and a run that is joined each minute keeps no end of each.
const earlierEnds = `
  case when finished_at is null then earlier_ends else earlier_ends[:cardinality(earlier_ends) - (not exists (
      select from evaluator.runs other where other.name = runs.name and other.created_at
        between runs.earlier_ends[cardinality(runs.earlier_ends)] and runs.finished_at
    ))::integer] || finished_at end
`;

// An answer that came late may have completed a run that a failure had stopped; "joinStatement" ends it.
const reopenStatement = `
  update evaluator.runs set stopped_by = null, failed_in_a_row = 0,
    state = case when state = 'stopped' and cardinality($2::integer[]) = 0 then 'done' else 'open' end,
    chunks_left = cardinality($2::integer[]) + case when state = 'open' then chunks_left else 0 end,
    earlier_ends = ${earlierEnds}, finished_at = null
  where run = $1
`;

// Who joins a complete run has another one of the same records, which ends at once.
const joinStatement = `
  update evaluator.runs set opened_at = evaluator.now(), earlier_ends = ${earlierEnds},
    finished_at = case when state = 'done' then evaluator.now() end
  where run = $1
`;
