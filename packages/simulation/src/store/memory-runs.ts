import type {
  ChunkRecord,
  LeasedChunk,
  ReportedRun,
  WorkerReport,
  WriterOptions,
} from "evaluator-runs/postgres";
import {
  AnswerWriter,
  DatabaseError,
  type Query,
  type RunStore,
  type RunWriter,
} from "evaluator-runs/store-parts";
import { MemoryLoader } from "./memory-loader.ts";
import { evaluationOf } from "./memory-reader.ts";
import type { SessionOptions } from "./memory-session.ts";
import { reserveChunk, takeChunk } from "./chunk-money.ts";
import type { ChunkLease, KeptEnds } from "./rows.ts";

/** Opens a session of a store of runs in memory. */
export function memoryRuns(options: SessionOptions): MemoryRuns {
  return new MemoryRuns(options);
}

/** A session of a store of runs in memory, with PostgreSQL's rules of commits. */
class MemoryRuns extends MemoryLoader implements RunStore {
  readonly isShared = true;

  async putAway(name: string, ids: readonly string[], until: string): Promise<void> {
    const chosen = ids.map((id) => [id, until] as const);
    await this.run("put-away", ({ choices }) => {
      choices.set(name, new Map([...(choices.get(name) ?? []), ...chosen]));
    });
  }

  async report(report: WorkerReport): Promise<ReportedRun> {
    return await this.run("report", ({ workers, runs }) => {
      const seenAtMs = this.database.now();
      const { name, startedAtMs } = workers.get(report.worker) ?? {
        ...report,
        startedAtMs: seenAtMs,
      };
      workers.set(report.worker, { ...report, name, startedAtMs, seenAtMs });
      const removed = "The run was removed from the database.";
      const gone = { state: "stopped", stoppedBy: removed, maxCostUsd: null } as const;
      const { state, stoppedBy, maxCostUsd } = runs.get(report.run) ?? gone;
      return { state, stoppedBy, maxCostUsd };
    });
  }

  async leave(worker: string): Promise<void> {
    await this.run("leave", ({ workers }) => void workers.delete(worker));
  }

  async stop(number: number, why: string): Promise<void> {
    await this.run("stop", ({ runs }) => {
      const run = runs.get(number);
      if (run?.state === "open") Object.assign(run, { state: "stopped", stoppedBy: why });
    });
  }

  async fetchChunk(run: number): Promise<LeasedChunk | null> {
    const { jobs } = this.database;
    const chunk = await this.run("fetch-chunk", () => jobs.fetch(run, this.database.now()));
    if (chunk === null) await this.#forgetFuture(run);
    return chunk;
  }

  async touch(chunk: LeasedChunk): Promise<boolean> {
    await this.#forgetFuture(chunk.run);
    const { jobs } = this.database;
    return await this.run("touch", () => jobs.touch(chunk, this.database.now()));
  }

  async #forgetFuture(run: number): Promise<void> {
    const { jobs } = this.database;
    await this.run("forget-future", () => jobs.forgetFuture(run, this.database.now()));
  }

  async readChunk(leased: LeasedChunk) {
    const { run, chunk } = leased;
    const costUsd = await this.run("take-chunk", (tables) => takeChunk(leaseOf(leased), tables));
    const { missing, changed } = await this.run("read-chunk", (tables) => {
      const missing: ChunkRecord[] = [];
      const changed: string[] = [];
      for (const { idx, id, key, state } of tables.recordsOf(run, chunk)) {
        if (tables.failuresOf(run).has(idx)) continue;
        const answer = tables.answers.get(key);
        const isThere = answer !== undefined && evaluationOf(answer, tables, state) !== null;
        if (!isThere) missing.push({ idx, id, key, state });
        if (answer !== undefined && !isThere) changed.push(key);
      }
      return { missing, changed };
    });
    if (changed.length > 0) {
      await this.run("delete-changed", ({ answers }) => {
        for (const key of changed) answers.delete(key);
      });
    }
    return { missing, costUsd };
  }

  async reserve(leased: LeasedChunk, wantedUsd: number): Promise<number | null> {
    return await this.run("reserve", async (tables) => {
      const { run } = leased;
      if (tables.runs.get(run)?.maxCostUsd != null) await this.database.lockRun(run);
      return reserveChunk(leaseOf(leased), wantedUsd, tables);
    });
  }

  async finish(leased: LeasedChunk, spentUsd: number): Promise<boolean> {
    const isWhole = await this.run("finish-chunk", (tables) =>
      tables.finish(leaseOf(leased), spentUsd, this.database.now()),
    );
    await this.run("end-chunk", () => this.database.jobs.end(leased, isWhole));
    return isWhole;
  }

  writer(options: Omit<WriterOptions, "query" | "clock">): RunWriter {
    return new AnswerWriter({ ...options, query: this.#keep, clock: this.clock });
  }

  /** Runs the statements of the writer, which is the one of PostgreSQL. */
  readonly #keep: Query = async <TRow extends object>(text: string, values: unknown[] = []) => {
    const rows = await this.#keepBy(text, values);
    return rows as TRow[];
  };

  async #keepBy(text: string, values: unknown[]): Promise<object[]> {
    if (text.includes("evaluator.keep_ends(")) {
      const ends = values as unknown as KeptEnds;
      return await this.run("keep-ends", async (tables) => {
        const [run, , , , , , , , , , sinceAnswer] = ends;
        // The statement reads the leases as they are when it begins.
        const held = this.database.jobs.held(ends);
        if (sinceAnswer > 0) await this.database.lockRun(run);
        tables.keepEnds(ends);
        return [{ held }];
      });
    }
    if (text.includes("update evaluator.setups set sample")) {
      const [run, evaluation] = values as [number, string];
      const kept = await this.run("keep-sample", (tables) => tables.keepSample(run, evaluation));
      return kept === null ? [] : [kept];
    }
    if (text.includes("set is_refusal = true")) {
      const [run, refused] = values as [number, readonly number[]];
      await this.run("mark-refusals", (tables) => {
        const failures = tables.failuresOf(run);
        for (const idx of refused) {
          const failure = failures.get(idx);
          if (failure !== undefined) failures.set(idx, { ...failure, isRefusal: true });
        }
      });
      return [];
    }
    throw new Error(`The store in memory does not know this statement: ${text}`);
  }

  async query(): Promise<never> {
    throw new DatabaseError("A store in memory runs no SQL.", { failure: "query" });
  }
}

function leaseOf({ run, chunk, lease: { id, retryCount } }: LeasedChunk): ChunkLease {
  return { run, chunk, lease: `${id} ${retryCount}` };
}
