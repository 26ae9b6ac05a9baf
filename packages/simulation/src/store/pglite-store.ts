import { type Database, PostgresRuns, type Query } from "evaluator-runs/postgres";
import type { RunStore } from "evaluator-runs/store-parts";
import { DrivenClock, openPglite, type PgliteDatabase } from "evaluator-runs/testing";
import type { StoreConnection } from "../store-faults.ts";
import { EPOCH_MS, type ProcessClock } from "../time/process-clock.ts";
import type { VirtualTime } from "../time/virtual-time.ts";
import type { World } from "../world.ts";
import { lostConnection } from "./memory-database.ts";
import type { SharedStore } from "./shared-store.ts";

// As in PostgreSQL's store.
const STATEMENT_MS = 60_000;
// As a server with idle_in_transaction_session_timeout. All processes share one session, so a frozen
// process would hold up the others for as long as it is frozen.
const IDLE_MS = 1000;

type Session = Parameters<Parameters<Database["transaction"]>[0]>[0];

/** Carries a call to the store and its result back. */
type Send = <TResult>(call: () => Promise<TResult>) => Promise<TResult>;

/**
 * PostgreSQL itself inside this process, with the real SQL and pg-boss. It has one session: statements
 * and transactions of all processes follow each other, and no crash of a server is played; a restart
 * only cuts the connections.
 */
export class PgliteStore implements SharedStore {
  readonly #time: VirtualTime;
  readonly #connection: StoreConnection;
  readonly #database: PgliteDatabase;
  /** Sets the clock of the server. */
  readonly #clock: DrivenClock;
  readonly #driving: PostgresRuns;
  /** Resolves when the last statement or transaction that waits has ended. */
  #last = Promise.resolve();
  /** The operation of PGlite under way. */
  #running: Promise<unknown> = Promise.resolve();
  #restarts = 0;
  /** Rolls the open transaction back. */
  #cut: () => Promise<void> = async () => {};
  #isClosed = false;

  private constructor(
    { time, plan }: World,
    parts: {
      readonly connection: StoreConnection;
      readonly database: PgliteDatabase;
      readonly clock: DrivenClock;
      readonly driving: PostgresRuns;
    },
  ) {
    this.#time = time;
    this.#connection = parts.connection;
    this.#database = parts.database;
    this.#clock = parts.clock;
    this.#driving = parts.driving;
    for (const fault of plan.faults) {
      if (fault.kind === "store" && fault.what === "restart") {
        time.schedule(fault.atMs, () => this.#restart());
      }
    }
  }

  /** Opens an empty database; only one is open at a time. */
  static async open(world: World, connection: StoreConnection): Promise<PgliteStore> {
    const database = await openPglite();
    const clock = new DrivenClock(EPOCH_MS);
    const driving = await PostgresRuns.open(database, { queueClock: clock });
    return new PgliteStore(world, { connection, database, clock, driving });
  }

  async openRuns(clock: ProcessClock, supervises: boolean): Promise<RunStore> {
    const closed = Promise.withResolvers<never>();
    closed.promise.catch(() => {});
    const database = this.#connect((call) => this.#send({ clock, closed: closed.promise }, call));
    const options = { supervises, clock, queueClock: timersOf(clock) };
    const runs = await PostgresRuns.open(database, options);
    // pg-boss looks for work in an immediate after its start.
    await this.#time.outside(new Promise((resolve) => setImmediate(resolve)));
    const close = runs[Symbol.asyncDispose].bind(runs);
    return Object.assign(runs, {
      // pg-boss waits by real time for its statements under way, which the close cuts.
      [Symbol.asyncDispose]: async () => {
        closed.reject(lostConnection());
        await this.#time.outside(close());
      },
    });
  }

  async openReader(): Promise<RunStore> {
    return await PostgresRuns.open(
      this.#connect((call) => call()),
      { onlyReads: true },
    );
  }

  async digests() {
    const rows = await this.#query<{ key: string; digest: string }>(
      "select key, encode(digest, 'hex') as digest from evaluator.answers",
    );
    return rows.map(({ key, digest }) => [key, digest] as const);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running.catch(() => {});
    await this.#database.query("rollback");
    await this.#driving[Symbol.asyncDispose]();
  }

  #restart(): void {
    this.#restarts += 1;
    void this.#cut();
  }

  #connect(send: Send): Database {
    return {
      query: (text, values) => send(() => this.#query(text, values)),
      transaction: (run) => this.#transact(send, run),
      connect: notPlayed,
      listen: notPlayed,
      close: async () => {},
    };
  }

  /** Sends a call to the store and waits for its reply, unless the connection is lost. */
  async #send<TResult>(
    { clock, closed }: { readonly clock: ProcessClock; readonly closed: Promise<never> },
    call: () => Promise<TResult>,
  ): Promise<TResult> {
    const restarts = this.#restarts;
    const checkConnection = () => {
      if (restarts !== this.#restarts) throw lostConnection();
    };
    const arrived = async () => {
      checkConnection();
      return await call();
    };
    const late = Promise.withResolvers<never>();
    const cancel = clock.schedule(STATEMENT_MS, () => late.reject(lostConnection()));
    try {
      const reply = this.#connection.call(clock, arrived, lostConnection);
      const result = await Promise.race([closed, late.promise, reply]);
      checkConnection();
      return result;
    } finally {
      cancel();
    }
  }

  readonly #query: Query = async (text, values) => {
    const release = await this.#takeTurn();
    try {
      return await this.#run(() => this.#database.query(text, values));
    } finally {
      release();
    }
  };

  /** A transaction has the session to itself, until its client waits too long between two statements. */
  async #transact<TResult>(
    send: Send,
    run: (session: Session) => Promise<TResult>,
  ): Promise<TResult> {
    let isOpen = false;
    let release = nothing;
    let cancel = nothing;
    const end = async (statement: "commit" | "rollback") => {
      if (!isOpen) return;
      isOpen = false;
      cancel();
      await this.#run(() => this.#database.query(statement));
      release();
    };
    const cut = () => end("rollback");
    const awaitNext = () => {
      cancel = this.#time.schedule(IDLE_MS, () => void cut());
    };
    const step = <TStep>(call: () => Promise<TStep>) =>
      send(async () => {
        if (!isOpen) throw lostConnection();
        cancel();
        return await call().finally(() => isOpen && awaitNext());
      });
    const query: Query = (text, values) =>
      step(() => this.#run(() => this.#database.query(text, values)));
    try {
      await send(async () => {
        release = await this.#takeTurn();
        await this.#run(() => this.#database.query("begin"));
        isOpen = true;
        this.#cut = cut;
        awaitNext();
      });
      const result = await run({ query, runOne: notPlayed });
      await step(() => end("commit"));
      return result;
    } catch (error) {
      await cut();
      throw error;
    }
  }

  /** Waits until no other statement or transaction is under way; the result lets the next one begin. */
  async #takeTurn(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    const { nowMs } = this.#time;
    const serverMs = EPOCH_MS + nowMs + this.#connection.offMs(nowMs);
    // Not in a transaction, which may be rolled back, or only read.
    if (serverMs !== this.#clock.now()) await this.#run(() => this.#clock.setTime(serverMs));
    return resolve;
  }

  /** Runs one operation of PGlite; time stands still until it ends. */
  async #run<TResult>(operation: () => Promise<TResult>): Promise<TResult> {
    // What a process of an earlier simulation still sends never reaches a later one.
    if (this.#isClosed) return await new Promise(() => {});
    const running = this.#time.outside(operation());
    this.#running = running;
    return await running;
  }
}

function nothing(): void {}

function cancelTimer(cancel: unknown): void {
  if (typeof cancel === "function") cancel();
}

async function notPlayed(): Promise<never> {
  throw new Error("This part of a database is not played.");
}

/** Returns the timers of pg-boss in a process; its date does not step, as in production. */
function timersOf(clock: ProcessClock) {
  const startMs = clock.epochNow() - clock.now();
  const setTimeout = (callback: () => void, delayMs: number) => clock.schedule(delayMs, callback);
  return {
    now: () => startMs + clock.now(),
    setTimeout,
    clearTimeout: cancelTimer,
    setInterval(callback: () => void, delayMs: number) {
      let cancel = nothing;
      const again = () => {
        cancel = clock.schedule(delayMs, () => {
          again();
          callback();
        });
      };
      again();
      return () => cancel();
    },
    clearInterval: cancelTimer,
  };
}
