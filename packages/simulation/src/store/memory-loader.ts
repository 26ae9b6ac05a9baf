import { pause } from "evaluator-kit";
import type { NewRun, RunInfo, RunRecord } from "evaluator-runs/postgres";
import { CHUNK_SIZE, toRunKey } from "evaluator-runs/store-parts";
import { type Load, lostConnection } from "./memory-database.ts";
import { capRun } from "./chunk-money.ts";
import { MemoryReader } from "./memory-reader.ts";
import type { StoredRecord } from "./rows.ts";
import { chunkCount } from "./tables.ts";

// As in PostgreSQL's store.
const LOADING_POLL_MS = 1000;
const ROWS_AT_ONCE = 500;

/** Makes the records and the chunks of runs. */
export class MemoryLoader extends MemoryReader {
  async join(
    made: NewRun,
    records: () => AsyncIterable<RunRecord>,
    signal: AbortSignal,
  ): Promise<RunInfo & { readonly isJoined: boolean }> {
    const { jobs } = this.database;
    const now = () => this.database.now();
    const run = await this.run("number-run", (tables) => tables.numberOf(made, now()));
    await this.run("prepare-queue", () => jobs.prepare(run));
    for (;;) {
      signal.throwIfAborted();
      const isJoined = await this.#join(run, made.maxCostUsd, records);
      if (isJoined !== null) return { ...(await this.get(run)), isJoined };
      await pause(LOADING_POLL_MS, { clock: this.clock, signal });
    }
  }

  async #join(
    number: number,
    maxCostUsd: number | null,
    records: () => AsyncIterable<RunRecord>,
  ): Promise<boolean | null> {
    const { restarts } = this.database;
    const begun: Load[] = [];
    try {
      const isJoined = await this.run("begin-load", ({ runs }) => {
        const load = this.database.beginLoad(number);
        if (load === null) return null;
        const run = runs.get(number);
        if (run?.state === "loading") {
          begun.push(load);
          this.loads.add(load);
          return false;
        }
        if (maxCostUsd !== null) capRun(number, maxCostUsd, this.database.tables);
        this.#reopen(number, []);
        this.database.tables.joined(number, this.database.now());
        this.#refuse(number);
        this.database.endLoad(load);
        return true;
      });
      for (const load of begun) {
        const rows: StoredRecord[] = [];
        const insert = () => this.run("insert-records", () => {}, restarts);
        for await (const { id, key, state, note = null } of records()) {
          rows.push({ idx: rows.length, id, key: toRunKey(key), state, note });
          if (rows.length % ROWS_AT_ONCE === 0) await insert();
        }
        if (rows.length % ROWS_AT_ONCE > 0) await insert();
        await this.run("commit-load", () => this.#commitLoad(load, rows), restarts);
      }
      return isJoined;
    } finally {
      for (const load of begun) {
        this.database.endLoad(load);
        this.loads.delete(load);
      }
    }
  }

  #commitLoad(load: Load, rows: readonly StoredRecord[]): void {
    if (load.isOver) throw lostConnection();
    const { tables, jobs } = this.database;
    const run = tables.runs.get(load.run);
    if (run === undefined) return;
    tables.records.set(load.run, rows);
    this.#refuse(load.run);
    jobs.clear(load.run, null);
    jobs.add(load.run, [...Array(chunkCount(run.made.records)).keys()]);
    const isEmpty = run.made.records === 0;
    const openedAtMs = this.database.now();
    Object.assign(
      run,
      { openedAtMs },
      isEmpty ? { state: "done", finishedAtMs: openedAtMs } : { state: "open" },
    );
  }

  /** A refusal in another run holds in this one. */
  #refuse(run: number): void {
    const { tables } = this.database;
    const [refusals, failures] = [tables.refusals(), tables.failuresOf(run)];
    for (const { idx, key } of tables.records.get(run) ?? []) {
      const error = refusals.get(key);
      if (error !== undefined && !failures.has(idx)) failures.set(idx, { error, isRefusal: true });
    }
  }

  async reopen(run: number, lost: readonly number[]): Promise<void> {
    const chunks = lost.map((idx) => Math.floor(idx / CHUNK_SIZE));
    await this.run("reopen", () => this.#reopen(run, chunks));
  }

  #reopen(run: number, lost: readonly number[]): void {
    const opened = this.database.tables.reopen(run, lost, this.database.now());
    if (opened === null) return;
    this.database.jobs.clear(run, opened.isOpen ? opened.chunks : null);
    this.database.jobs.add(run, opened.chunks);
  }
}
