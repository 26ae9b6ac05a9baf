import { type Clock, pause, systemClock } from "evaluator-kit";
import { type Db, PgBoss, systemClock as queueClock } from "pg-boss";
import { DatabaseError } from "./database-error.ts";
import type { Database, Query } from "./database.ts";
import type { LeasedChunk } from "../store/run-store.ts";

/** The schema of pg-boss's tables, separate from other uses of it in the database. */
const queueSchema = "evaluator_jobs";
// The library's least. A dead worker's chunk is free again after it and one round of supervision,
// which was chosen so that both stay below 15 seconds and cost a statement every other second.
const HEARTBEAT_SECONDS = 10;
const SUPERVISE_SECONDS = 2;
const DAY_SECONDS = 86_400;
// A run may take weeks, and workers may die as often as they like.
const FOREVER_SECONDS = 3650 * DAY_SECONDS;
const RETRIES = 1_000_000;
// Chosen, not measured: few statements for a large run, and none of them large.
const JOBS_AT_ONCE = 2000;
// Chosen, not measured: the second try finds the tables, so the third is a reserve.
const MIGRATION_TRIES = 3;
const MIGRATION_RETRY_MS = 200;

/** A clock of pg-boss, whose declarations are not in the package that contains its code. */
interface QueueClock {
  /** Returns milliseconds since 1970. */
  now(): number;
  setTimeout(callback: () => void, delayMs: number): unknown;
  clearTimeout(timer: unknown): void;
  setInterval(callback: () => void, delayMs: number): unknown;
  clearInterval(timer: unknown): void;
}

/** How runs are opened. */
export interface RunsOptions {
  /** Whether the chunks of dead workers are handed out again. @default false */
  readonly supervises?: boolean;
  /** Whether it only reads, which needs only a role that may read. @default false */
  readonly onlyReads?: boolean;
  /** @default the machine's own clock */
  readonly clock?: Clock;
  /** The clock of pg-boss. @default the machine's own clock; steps of its date do not change it */
  readonly queueClock?: QueueClock;
}

/** The chunks of runs, handed out to one worker at a time by pg-boss. */
export class ChunkQueue {
  readonly #boss: PgBoss;
  readonly #query: Query;

  private constructor(boss: PgBoss, query: Query) {
    this.#boss = boss;
    this.#query = query;
  }

  /** Opens the queue, and makes or upgrades its tables if needed. */
  static async open(database: Database, options: RunsOptions = {}): Promise<ChunkQueue> {
    try {
      return await ChunkQueue.#start(database, options);
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.failure !== "newer-schema") throw error;
      // Missing or older, as on the first start; a newer schema is rejected again.
      await migrateQueue(database, options);
      return await ChunkQueue.#start(database, options);
    }
  }

  static async #start(database: Database, options: RunsOptions) {
    const { supervises = false, onlyReads = false } = options;
    const boss = new PgBoss({
      ...bossOptions(database, options),
      migrate: false,
      createSchema: false,
      supervise: supervises,
      superviseIntervalSeconds: SUPERVISE_SECONDS,
      monitorIntervalSeconds: 1,
    });
    // Background work is retried a moment after a failure; calls throw.
    boss.on("error", () => {});
    if (!onlyReads) await withOwnErrors(() => boss.start());
    // Without this, a worker that starts alone takes new chunks before those of dead workers.
    if (supervises) await boss.supervise().catch(() => {});
    return new ChunkQueue(boss, database.query);
  }

  /** Makes the queue for the chunks of a run. */
  async prepare(run: number): Promise<void> {
    const options = {
      retryLimit: RETRIES,
      retryDelay: 0,
      heartbeatSeconds: HEARTBEAT_SECONDS,
      expireInSeconds: DAY_SECONDS,
      retentionSeconds: FOREVER_SECONDS,
    };
    await withOwnErrors(async () => {
      await this.#boss.createQueue(toQueue(run), options);
      // pg-boss looks a queue up once, and not on the connection of the transaction it adds jobs in.
      await this.#boss.insert(toQueue(run), []);
    });
  }

  /** Removes chunks of a run in the caller's transaction, also those that workers have; null: all of them. */
  async clear(query: Query, run: number, chunks: readonly number[] | null): Promise<void> {
    const whose = "and data ->> 'chunk' in (select unnest($2::text[]))";
    await query(
      `delete from ${queueSchema}.job where name = $1 ${chunks === null ? "" : whose}`,
      chunks === null ? [toQueue(run)] : [toQueue(run), chunks.map(String)],
    );
  }

  /** Adds chunks of a run in the caller's transaction. */
  async add(query: Query, run: number, chunks: Iterable<number>): Promise<void> {
    const db = toDb(query);
    // Without a priority, the chunk of a dead worker would be asked last.
    const all = [...chunks].map((chunk) => ({ data: { chunk }, priority: -chunk }));
    for (let at = 0; at < all.length; at += JOBS_AT_ONCE) {
      const some = all.slice(at, at + JOBS_AT_ONCE);
      await withOwnErrors(() => this.#boss.insert(toQueue(run), some, { db }));
    }
  }

  /** Returns the next free chunk of a run, or null. */
  async fetch(run: number): Promise<LeasedChunk | null> {
    // A chunk that was added before the server's clock went back would have to wait.
    const options = { includeMetadata: true, ignoreStartAfter: true } as const;
    const [job] = await withOwnErrors(() =>
      this.#boss.fetch<{ chunk: number }>(toQueue(run), options),
    );
    if (job !== undefined) {
      const { id, retryCount, data } = job;
      return { run, chunk: data.chunk, lease: { id, retryCount } };
    }
    await this.#query(forgetFuture, [toQueue(run)]);
    return null;
  }

  /** Renews the lease of a chunk; returns whether the worker still has it. */
  async touch({ run, lease }: LeasedChunk): Promise<boolean> {
    await this.#query(forgetFuture, [toQueue(run)]);
    const response = await withOwnErrors(() => this.#boss.touch(toQueue(run), lease));
    // The types of pg-boss leave the count out.
    return (response as { affected: number }).affected > 0;
  }

  /** Ends a chunk whose records all have an answer or a failure; another worker gets any other at once. */
  async end({ run, lease }: LeasedChunk, isWhole: boolean): Promise<void> {
    await withOwnErrors(() => this.#boss[isWhole ? "complete" : "fail"](toQueue(run), lease));
  }

  /** Ends the supervision. */
  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false, close: false }).catch(() => {});
  }
}

// pg-boss compares instants of the server. When the server's clock goes back, supervision would stop
// until the old time is reached again, and the chunks of dead workers would wait as long. Only a
// supervised queue that was seen in the future has its jobs looked through: no index finds them.
const forgetFuture = `
  with supervised as (
    update ${queueSchema}.queue set monitor_claim_on = null, monitor_on = null, maintain_on = null
    where name = $1 and greatest(monitor_claim_on, monitor_on, maintain_on) > ${queueSchema}.job_now()
    returning name
  )
  update ${queueSchema}.job set heartbeat_on = ${queueSchema}.job_now() from supervised
  where job.name = supervised.name and state = 'active' and heartbeat_on > ${queueSchema}.job_now()
`;

// With pg-boss's own clock, a machine that sets its clock back an hour stops supervising for an hour.
const steadyClock: QueueClock = {
  ...queueClock,
  now: () => performance.timeOrigin + performance.now(),
};

/** Makes or upgrades the tables of pg-boss; writes nothing if they are up to date. */
async function migrateQueue(database: Database, options: RunsOptions): Promise<void> {
  // Of several that make them at once one wins, and the others find them made.
  for (let remainingCount = MIGRATION_TRIES; ; remainingCount -= 1) {
    const boss = new PgBoss({ ...bossOptions(database, options), migrate: true, supervise: false });
    boss.on("error", () => {});
    try {
      await withOwnErrors(() => boss.start());
      return;
    } catch (error) {
      if (remainingCount === 1) throw error;
      await pause(MIGRATION_RETRY_MS, { clock: options.clock ?? systemClock });
    } finally {
      await boss.stop({ graceful: false, close: false });
    }
  }
}

function bossOptions({ query }: Database, { queueClock: clock = steadyClock }: RunsOptions) {
  return {
    db: toDb(query),
    clock,
    schema: queueSchema,
    schedule: false,
    // Both take the role that owns the tables.
    reindex: false,
    monitorVacuum: false,
  };
}

function toDb(query: Query): Db {
  return {
    executeSql: async (text, values) => ({ rows: await query<object>(text, values) }),
    // Only the clock of a test needs it, with a database of one session.
    setSessionStatements: async (texts) =>
      void (await Promise.all(texts.map((text) => query(text)))),
  };
}

function toQueue(run: number): string {
  return `run-${run}`;
}

/** Replaces errors of pg-boss's checks, which quote statements and settings. */
async function withOwnErrors<TResult>(call: () => Promise<TResult>): Promise<TResult> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
    throw new DatabaseError(
      "The job queue in the schema evaluator_jobs has another version. Upgrade evaluator-runs, or run its migrate as the schema's owner.",
      { failure: "newer-schema" },
    );
  }
}
