import type { CallStatus, NewRecords, RunInfo, RunRow, WorkerInfo } from "evaluator-runs/postgres";
import { DatabaseError, readEvaluation, toRunKey } from "evaluator-runs/store-parts";
import { MemorySession } from "./memory-session.ts";
import type { StoredAnswer, StoredFailure, StoredRecord, StoredRun } from "./rows.ts";
import { addCounts, type Tables } from "./tables.ts";

// As in PostgreSQL's store.
const ROWS_AT_ONCE = 500;

/** Reads runs and their answers. */
export class MemoryReader extends MemorySession {
  async statusesOf(keys: readonly string[]): Promise<CallStatus[]> {
    return await this.run("statuses", (tables) => {
      const refusals = tables.refusals();
      return keys.map(toRunKey).map((key) => {
        const answer = tables.answers.get(key);
        if (answer === undefined) return refusals.has(key) ? "refused" : "unknown";
        return evaluationOf(answer, tables) === null ? "changed" : "answered";
      });
    });
  }

  async list(name?: string): Promise<RunInfo[]> {
    return await this.run("list", (tables) =>
      inBegunOrder(tables, name).map((run) => toInfo(run, tables)),
    );
  }

  async get(number: number): Promise<RunInfo> {
    const found = await this.run("list", (tables) => {
      const run = tables.runs.get(number);
      return run && toInfo(run, tables);
    });
    if (found !== undefined) return found;
    throw new DatabaseError(`There is no run ${number} in this database.`, { failure: "no-run" });
  }

  async workers(run: number): Promise<WorkerInfo[]> {
    return await this.run("workers", (tables) => {
      const nowMs = this.database.now();
      return tables
        .workersOf(run, nowMs)
        .toSorted(
          (one, other) =>
            one.startedAtMs - other.startedAtMs || (one.worker < other.worker ? -1 : 1),
        )
        .map(({ worker, name, answered, failed, inFlight, perSecond, seenAtMs }) => {
          const seenMsAgo = nowMs - seenAtMs;
          return { worker, name, answered, failed, inFlight, perSecond, seenMsAgo };
        });
    });
  }

  async refused(run: number): Promise<ReadonlySet<number>> {
    return await this.run("refused", (tables) => {
      const failures = [...tables.failuresOf(run)];
      return new Set(failures.flatMap(([idx, { isRefusal }]) => (isRefusal ? idx : [])));
    });
  }

  async *rows(run: number): AsyncGenerator<RunRow> {
    const { restarts } = this.database;
    const stored = await this.run("snapshot", (tables) =>
      (tables.records.get(run) ?? []).map((record) => storedRow(record, run, tables)),
    );
    for (let at = 0; ; at += ROWS_AT_ONCE) {
      const toRows = (tables: Tables) =>
        stored.slice(at, at + ROWS_AT_ONCE).map((row) => toRow(row, tables));
      const rows = await this.run("fetch-rows", toRows, restarts);
      if (rows.length === 0) return;
      yield* rows;
    }
  }

  async find(
    id: string,
    run: number | null = null,
    name?: string,
  ): Promise<(RunRow & { run: number }) | null> {
    return await this.run("find", (tables) => {
      const runs = inBegunOrder(tables, name).map((one) => one.run);
      for (const of of runs.toReversed().filter((one) => one === (run ?? one))) {
        const record = tables.records.get(of)?.find((one) => one.id === id);
        if (record !== undefined)
          return { ...toRow(storedRow(record, of, tables), tables), run: of };
      }
      return null;
    });
  }

  async away(name: string): Promise<ReadonlyMap<string, string>> {
    return await this.run("away", ({ choices }) => choices.get(name) ?? new Map());
  }

  async newIds({ run, name }: Pick<RunInfo, "run" | "name">): Promise<NewRecords | null> {
    return await this.run("new-ids", (tables) => {
      const begunAtMs = begunAt(tables.runs.get(run));
      const named = [...tables.runs.values()].filter((other) => other.made.name === name);
      const endsMs = named.flatMap(({ earlierEndsMs, finishedAtMs }) => [
        ...earlierEndsMs,
        ...(finishedAtMs === null ? [] : [finishedAtMs]),
      ]);
      const sinceById = new Map<string, number>();
      for (const other of named.filter(({ createdAtMs }) => createdAtMs <= begunAtMs)) {
        const earlierMs = endsMs.filter((endMs) => endMs <= other.createdAtMs);
        const { newSince } = JSON.parse(other.made.facts) as { readonly newSince?: string };
        const fromMs = Date.parse(newSince ?? "");
        const firstMs = Math.min(...earlierMs.filter((endMs) => endMs >= fromMs));
        const sinceMs = firstMs === Infinity ? Math.max(0, ...earlierMs) : firstMs;
        for (const { id } of tables.records.get(other.run) ?? [])
          if (!sinceById.has(id)) sinceById.set(id, sinceMs);
      }
      const lastMs = Math.max(0, ...sinceById.values());
      const own = (tables.records.get(run) ?? []).filter(({ id }) => sinceById.get(id) === lastMs);
      if (lastMs === 0 || own.length === 0) return null;
      return { ids: new Set(own.map(({ id }) => id)), since: new Date(lastMs).toISOString() };
    });
  }
}

function begunAt(run: StoredRun | undefined): number {
  return run?.openedAtMs ?? run?.createdAtMs ?? 0;
}

function inBegunOrder({ runs }: Tables, name?: string): StoredRun[] {
  return [...runs.values()]
    .filter(({ made }) => made.name === (name ?? made.name))
    .toSorted((one, other) => begunAt(one) - begunAt(other) || one.run - other.run);
}

function toInfo({ made, setup, ...run }: StoredRun, tables: Tables): RunInfo {
  const { hash, wire, modelId, questions } = setup;
  const { answered, asked, failed, inputTokens, costUsd, unpriced } = run;
  const sums = { answered, asked, failed, inputTokens, costUsd, unpriced };
  let { uncountedUsd } = run;
  for (const [chunk, row] of tables.chunksOf(run.run)) {
    if (row.finishedAtMs !== null) continue;
    addCounts(sums, tables.count(run.run, chunk), 1);
    uncountedUsd += row.uncountedUsd;
  }
  const { unpriced: ofUnknownCost, ...counts } = sums;
  return {
    run: run.run,
    digest: made.digest,
    name: made.name,
    facts: made.facts,
    setup: { hash, wire, modelId, questions },
    state: run.state,
    stoppedBy: run.stoppedBy,
    records: made.records,
    maxCostUsd: run.maxCostUsd,
    ...counts,
    costUsd: ofUnknownCost > 0 ? null : counts.costUsd,
    uncountedUsd,
    createdAt: new Date(run.createdAtMs),
    finishedAt: run.finishedAtMs === null ? null : new Date(run.finishedAtMs),
  };
}

interface StoredRow {
  readonly record: StoredRecord;
  readonly run: number;
  readonly answer: StoredAnswer | undefined;
  readonly failure: StoredFailure | undefined;
}

function storedRow(record: StoredRecord, run: number, tables: Tables): StoredRow {
  const { idx, key } = record;
  const [answer, failure] = [tables.answers.get(key), tables.failuresOf(run).get(idx)];
  // A call that failed in a run may have an answer since a later one.
  const isLater = failure !== undefined && answer !== undefined && answer.run > run;
  return { record, run, answer: isLater ? undefined : answer, failure };
}

function toRow({ record, run, answer, failure }: StoredRow, tables: Tables): RunRow {
  const evaluation = answer === undefined ? null : evaluationOf(answer, tables, record.state);
  const isChanged = answer !== undefined && evaluation === null;
  const isOwn = answer !== undefined && answer.run === run;
  return { ...record, evaluation, isChanged, isOwn, error: failure?.error ?? null };
}

/** Returns the evaluation of an unchanged answer, else null. */
export function evaluationOf(
  answer: StoredAnswer,
  { samples }: Tables,
  state?: string,
): string | null {
  return readEvaluation({ ...answer, state_digest: answer.stateDigest }, samples, state);
}
