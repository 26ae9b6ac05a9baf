/// <reference lib="esnext.disposable" preserve="true" />
import { createHash } from "node:crypto";
import { EventEmitter } from "node:events";
import type { Lease, LimitStore } from "evaluator-client";
import { DatabaseError } from "./database-error.ts";
import { type Connection, type Database, openDatabase } from "./database.ts";
import { migrateDatabase } from "./migrate.ts";

/**
 * Opens a store on PostgreSQL where processes agree on a limit, for `sharedPacer`. Makes or upgrades
 * the schema `evaluator` when it has to.
 *
 * @param connection - A URL, or the options of `pg`.
 * @throws DatabaseError whose `failure` tells unreachable, denied, read-only, full, too old and a
 *   newer schema apart.
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

interface LeaseRow {
  wait_ms: number | null;
  gap_ms: number | null;
  members: number | null;
  paused_ms: number | null;
}

/** Returns a limit store on a database whose schema is up to date; disposing of it closes both. */
export async function toLimitStore(database: Database): Promise<LimitStore & AsyncDisposable> {
  const pauses = new EventEmitter<Record<string, [ms: number]>>().setMaxListeners(0);
  await database.listen("evaluator_pause", (payload) => {
    const [key = "", ms] = payload.split(" ");
    if (Number(ms) > 0) pauses.emit(key, Number(ms));
  });
  return {
    async lease({ key, member, requests, tokens, limits }) {
      const { requestsPerMinute, tokensPerSecond } = limits;
      const [row] = await database.query<LeaseRow>(
        "select * from evaluator.limiter_lease($1, $2, $3, $4, $5, $6)",
        [
          hashOf(key),
          member,
          requests,
          tokens,
          requestsPerMinute === undefined ? 0 : 60_000 / requestsPerMinute,
          tokensPerSecond === undefined ? 0 : 1000 / tokensPerSecond,
        ],
      );
      return toLease(row);
    },
    async pause(key, ms) {
      await database.query("select evaluator.limiter_pause($1, $2)", [hashOf(key), ms]);
    },
    onPause(key, listener) {
      const own = (ms: number): void => listener(ms);
      pauses.on(hashOf(key), own);
      return () => void pauses.off(hashOf(key), own);
    },
    [Symbol.asyncDispose]: () => database.close(),
  };
}

/** The key may be, or hold, an API key: the database sees a hash of it. */
function hashOf(key: string): string {
  return createHash("sha256").update(`evaluator limit\n${key}`).digest("hex");
}

function toLease(row: LeaseRow | undefined): Lease {
  const { wait_ms: waitMs, gap_ms: gapMs, members, paused_ms: pausedMs } = row ?? {};
  const lease = { waitMs, gapMs, members, pausedMs };
  // A null would count as 0: no wait at all.
  if (Object.values(lease).every((value) => Number.isFinite(value))) return lease as Lease;
  throw new DatabaseError(
    "PostgreSQL answered a lease without its numbers. Check that nobody changed the schema evaluator.",
    { failure: "other" },
  );
}
