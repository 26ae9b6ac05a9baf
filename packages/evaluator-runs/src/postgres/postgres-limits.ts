/// <reference lib="esnext.disposable" preserve="true" />
import { createHash } from "node:crypto";
import { EventEmitter } from "node:events";
import type { LimitRow, LimitStore } from "evaluator-client";
import { escapeLiteral } from "pg";
import { type Connected, type Connection, type Database, openDatabase } from "./database.ts";
import { migrateDatabase } from "./migrate.ts";

// Longer than the writes that a crash may lose.
const CLOSED_AFTER_START_MS = 1000;

/**
 * Opens a store in PostgreSQL for a limit that processes share with `sharedPacer`. Makes or upgrades the
 * schema `evaluator` if needed.
 *
 * @param connection - A URL, or the options of `pg`.
 * @throws DatabaseError
 * @example
 * await using store = await postgresLimits("postgres://127.0.0.1/evaluator");
 */
export async function postgresLimits(
  connection: Connection,
): Promise<LimitStore & AsyncDisposable> {
  const database = openDatabase(connection);
  try {
    await migrateDatabase(database);
    return await toLimitStore(database);
  } catch (error) {
    await database.close();
    throw error;
  }
}

interface ReadRow {
  readonly row: LimitRow | null;
  readonly version: number;
  readonly now_ms: number;
  readonly started_ms: number;
}

/** A row that is locked until it is swapped. */
interface Held {
  readonly connection: Connected;
  readonly pausedUntilMs: number;
  readonly nowMs: number;
}

/** Returns a limit store on a database whose schema is up to date; disposing of it closes both. */
export async function toLimitStore(database: Database): Promise<LimitStore & AsyncDisposable> {
  const pauses = new EventEmitter<Record<string, [ms: number]>>().setMaxListeners(0);
  await database.listen("evaluator_pause", (payload) => {
    const [key = "", ms] = payload.split(" ");
    if (Number(ms) > 0) pauses.emit(key, Number(ms));
  });
  const held = new Map<string, Held>();
  return {
    async read(key) {
      const hash = hashOf(key);
      const {
        row,
        version,
        now_ms: nowMs,
        started_ms: startedMs,
        connection,
      } = await lock(database, hash);
      const { pausedUntilMs = 0, requestsFreeAtMs = 0 } = row ?? {};
      held.set(`${hash} ${version}`, { connection, pausedUntilMs, nowMs });
      // A crash of the server loses the last writes, which did not wait for the disk.
      const freeAtMs = Math.max(requestsFreeAtMs, startedMs + CLOSED_AFTER_START_MS);
      return { row: { ...row, requestsFreeAtMs: freeAtMs } as LimitRow, version, nowMs };
    },
    async swap(key, version, row) {
      const hash = hashOf(key);
      const place = `${hash} ${version}`;
      const { connection, pausedUntilMs, nowMs } = held.get(place) ?? notRead();
      held.delete(place);
      const pausedMs = row.pausedUntilMs > pausedUntilMs ? row.pausedUntilMs - nowMs : 0;
      return await write(connection, { hash, version, row, pausedMs });
    },
    onPause(key, listener) {
      const own = (ms: number): void => listener(ms);
      pauses.on(hashOf(key), own);
      return () => void pauses.off(hashOf(key), own);
    },
    async [Symbol.asyncDispose]() {
      for (const { connection } of held.values()) connection.release(true);
      await database.close();
    },
  };
}

/** Begins a transaction that holds the row alone; without a swap the server ends it after a second. */
async function lock(
  database: Database,
  hash: string,
): Promise<ReadRow & { connection: Connected }> {
  const connection = await database.connect();
  try {
    // One round trip. The time is read after the lock, so that no two processes read the same one.
    const [stored, time] = await connection.query<Partial<ReadRow>>(`
      begin;
      set local synchronous_commit = off;
      set local idle_in_transaction_session_timeout = '1s';
      insert into evaluator.limits (key) values ('${hash}') on conflict do nothing;
      select state as row, version from evaluator.limits where key = '${hash}' for update;
      select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms,
        extract(epoch from pg_postmaster_start_time())::float8 * 1000 as started_ms`);
    return { ...(stored as ReadRow), ...(time as ReadRow), connection };
  } catch (error) {
    connection.release(true);
    throw error;
  }
}

interface Write {
  readonly hash: string;
  readonly version: number;
  readonly row: LimitRow;
  /** The rest of a pause that is new, or 0. */
  readonly pausedMs: number;
}

async function write(
  connection: Connected,
  { hash, version, row, pausedMs }: Write,
): Promise<boolean> {
  const notify = `notify evaluator_pause, '${hash} ${pausedMs}';`;
  try {
    const written = await connection.query<{ version?: number }>(`
      update evaluator.limits set state = ${escapeLiteral(JSON.stringify(row))}, version = version + 1
        where key = '${hash}' and version = ${version} returning version;
      ${pausedMs > 0 ? notify : ""}
      commit`);
    connection.release(false);
    return written.length > 0;
  } catch (error) {
    connection.release(true);
    throw error;
  }
}

function notRead(): never {
  throw new TypeError("swap needs the version that read returned.");
}

/** The key may be, or hold, an API key: the database sees a hash of it. */
function hashOf(key: string): string {
  return createHash("sha256").update(`evaluator limit\n${key}`).digest("hex");
}
