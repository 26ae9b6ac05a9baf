import type { Clock } from "evaluator-kit";
import { lostConnection, type Load, type MemoryDatabase } from "./memory-database.ts";
import type { Tables } from "./tables.ts";

// As in PostgreSQL's store.
const SUPERVISE_MS = 2000;
const STATEMENT_MS = 60_000;

/** A statement of a session, so that faults can be aimed. */
export type StoreStatement =
  | "away"
  | "begin-load"
  | "commit-load"
  | "delete-changed"
  | "end-chunk"
  | "fetch-chunk"
  | "fetch-rows"
  | "find"
  | "finish-chunk"
  | "forget-future"
  | "insert-records"
  | "keep-ends"
  | "keep-sample"
  | "leave"
  | "list"
  | "mark-refusals"
  | "new-ids"
  | "number-run"
  | "prepare-queue"
  | "put-away"
  | "read-chunk"
  | "refused"
  | "reopen"
  | "report"
  | "reserve"
  | "snapshot"
  | "statuses"
  | "stop"
  | "supervise"
  | "take-chunk"
  | "touch"
  | "workers";

/**
 * Carries a statement to the store and its result back, as a connection does: it may wait before and
 * after `call`, and may throw without it or instead of its result.
 */
export type Carry = <TResult>(
  call: () => Promise<TResult>,
  statement: StoreStatement,
) => Promise<TResult>;

/** Options of a session. */
export interface SessionOptions {
  readonly database: MemoryDatabase;
  /** The clock of the process. */
  readonly clock: Clock;
  /** @default carries each statement at once */
  readonly carry?: Carry;
  /** Whether the chunks of dead workers are handed out again. @default false */
  readonly supervises?: boolean;
}

/** The connection of a process to a store in memory, which may be slow or be cut. */
export class MemorySession implements AsyncDisposable {
  protected readonly database: MemoryDatabase;
  protected readonly clock: Clock;
  /** The loads of this session that are under way. */
  protected readonly loads = new Set<Load>();
  readonly #carry: Carry;
  #isClosed = false;
  #cancelSupervision = () => {};

  constructor({ database, clock, carry = (call) => call(), supervises = false }: SessionOptions) {
    this.database = database;
    this.clock = clock;
    this.#carry = carry;
    if (supervises) this.#superviseLater();
  }

  /** Runs one statement. A restart meanwhile, or since the transaction began, loses the connection. */
  protected async run<TResult>(
    statement: StoreStatement,
    work: (tables: Tables) => TResult | Promise<TResult>,
    restarts = this.database.restarts,
  ): Promise<TResult> {
    const database = this.database;
    const checkConnection = () => {
      if (this.#isClosed || database.restarts !== restarts) throw lostConnection();
    };
    checkConnection();
    const call = async () => {
      // What was sent is done, also if its process dies or closes the session meanwhile.
      if (database.restarts !== restarts) throw lostConnection();
      return await work(database.tables);
    };
    const late = Promise.withResolvers<never>();
    const cancel = this.clock.schedule(STATEMENT_MS, () => late.reject(lostConnection()));
    try {
      const result = await Promise.race([this.#carry(call, statement), late.promise]);
      checkConnection();
      return result;
    } finally {
      cancel();
    }
  }

  #superviseLater(): void {
    const supervise = () => void this.supervise().then(() => this.#superviseLater());
    if (!this.#isClosed) this.#cancelSupervision = this.clock.schedule(SUPERVISE_MS, supervise);
  }

  /** Frees the chunks of dead workers. */
  async supervise(): Promise<void> {
    const { jobs } = this.database;
    // Is tried again in any case.
    await this.run("supervise", () => jobs.supervise(this.database.now())).catch(() => {});
  }

  /** Ends the session, as a server does whose client has died. */
  disconnect(): void {
    this.#isClosed = true;
    this.#cancelSupervision();
    for (const load of this.loads) this.database.endLoad(load);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.disconnect();
  }
}
