/// <reference lib="esnext.disposable" preserve="true" />
import { hash } from "node:crypto";
import { EventEmitter } from "node:events";
import type { LimitRow, LimitStore } from "evaluator-client";
import { escapeLiteral } from "pg";
import { type Connection, type Database, openDatabase } from "./database.ts";
import { migrateDatabase } from "./schema.ts";

// Longer than the writes that a crash may lose.
const CLOSED_AFTER_START_MS = 1000;

/**
 * Opens a store in PostgreSQL for a limit that processes share with `sharedPacer`. Makes or upgrades the
 * schema `evaluator` if needed.
 *
 * @param connection - A URL, or the options of `pg`.
 * @param open - Opens the database; a test passes one in memory.
 * @throws DatabaseError
 * @example
 * await using store = await postgresLimits("postgres://127.0.0.1/evaluator");
 */
export async function postgresLimits(
  connection: Connection,
  open: (connection: Connection) => Database = openDatabase,
): Promise<LimitStore & AsyncDisposable> {
  const database = open(connection);
  try {
    await migrateDatabase(database);
    return await toLimitStore(database);
  } catch (error) {
    await database.close();
    throw error;
  }
}

type Connected = Awaited<ReturnType<Database["connect"]>>;

/** A row that is locked until it is swapped. */
interface Held {
  readonly connection: Connected;
  readonly pausedUntilMs: number;
  readonly nowMs: number;
}

/** Returns a limit store on a database whose schema is up to date; disposing of it closes both. */
async function toLimitStore(database: Database): Promise<LimitStore & AsyncDisposable> {
  const pauses = new EventEmitter<Record<string, [ms: number]>>().setMaxListeners(0);
  await database.listen("evaluator_pause", (payload) => {
    const [key = "", ms] = payload.split(" ");
    if (Number(ms) > 0) pauses.emit(key, Number(ms));
  });
  const heldRows = new Map<string, Held>();
  return {
    async read(key) {
      const id = toHash(key);
      const connection = await database.connect();
      // The transaction holds the row alone; without a swap the server ends it after a second.
      // One round trip. The time is read after the lock, so that no two processes read the same one.
      const rows = await runOrClose<Partial<LimitState>>(
        connection,
        `begin;
        set local synchronous_commit = off;
        set local idle_in_transaction_session_timeout = '1s';
        insert into evaluator.limits (key) values ('${id}') on conflict do nothing;
        select state as row, version from evaluator.limits where key = '${id}' for update;
        select extract(epoch from evaluator.now())::float8 * 1000 as "nowMs",
          extract(epoch from pg_postmaster_start_time())::float8 * 1000 as "startedMs"`,
      );
      const { row, version, nowMs, startedMs } = Object.assign({}, ...rows) as LimitState;
      const { pausedUntilMs = 0, requestsFreeAtMs = 0 } = row ?? {};
      heldRows.set(`${id} ${version}`, { connection, pausedUntilMs, nowMs });
      // A crash loses the last writes, which did not wait for the disk; a start in the future is none.
      const openAtMs = startedMs > nowMs ? 0 : startedMs + CLOSED_AFTER_START_MS;
      const freeAtMs = Math.max(requestsFreeAtMs, openAtMs);
      return { row: { ...row, requestsFreeAtMs: freeAtMs } as LimitRow, version, nowMs };
    },
    async swap(key, version, row) {
      const id = toHash(key);
      const place = `${id} ${version}`;
      const read = heldRows.get(place);
      if (read === undefined) throw new TypeError("swap needs the version from read.");
      heldRows.delete(place);
      const { connection, pausedUntilMs, nowMs } = read;
      const notify = `notify evaluator_pause, '${id} ${row.pausedUntilMs - nowMs}';`;
      const writtenItems = await runOrClose<{ version?: number }>(
        connection,
        `update evaluator.limits set state = ${escapeLiteral(JSON.stringify(row))}, version = version + 1
          where key = '${id}' and version = ${version} returning version;
        ${row.pausedUntilMs > Math.max(pausedUntilMs, nowMs) ? notify : ""}
        commit`,
      );
      connection.release(false);
      return writtenItems.length > 0;
    },
    onPause(key, listener) {
      pauses.on(toHash(key), listener);
      return () => void pauses.off(toHash(key), listener);
    },
    async [Symbol.asyncDispose]() {
      for (const { connection } of heldRows.values()) connection.release(true);
      await database.close();
    },
  };
}

/** A stored row, the server's time, and the time when the server started. */
type LimitState = Readonly<Record<"version" | "nowMs" | "startedMs", number>> & {
  readonly row: LimitRow | null;
};

/** Runs statements, and closes the connection if they fail. */
async function runOrClose<TRow extends object>(connection: Connected, text: string) {
  try {
    return await connection.query<TRow>(text);
  } catch (error) {
    connection.release(true);
    throw error;
  }
}

/** The key may be, or hold, an API key: the database sees a hash of it. */
function toHash(key: string): string {
  return hash("sha256", `evaluator limit\n${key}`);
}
