import { chmodSync, closeSync, openSync } from "node:fs";
import { uptime } from "node:os";
import { DatabaseSync } from "node:sqlite";
import type { Database } from "evaluator-runs/postgres";
import { isDatabase } from "./key-store.ts";

/** Keeps a text for each budget. */
export interface LedgerDatabase {
  /** Replaces a text while other processes wait. The time is that of a clock that is never set. */
  readonly change: <TResult>(
    budget: string,
    edit: (text: string, nowMs: number) => readonly [text: string, result: TResult],
  ) => Promise<TResult>;
  readonly close: () => Promise<void>;
}

/** The statements for SQLite and PostgreSQL. */
const makeTable = `create table if not exists router_budgets
  (budget text primary key, state text not null)`;
const lockState = `insert into router_budgets values ($1, '{}')
  on conflict (budget) do update set state = router_budgets.state returning state`;
const writeState = "update router_budgets set state = $2 where budget = $1";

/** Opens the ledger of the keys in a file or a database: `router-keys.spend.sqlite` for `router-keys.json`. */
export function openLedgerDatabase(address: string): LedgerDatabase {
  const load = async () => (await import("evaluator-runs/postgres")).openDatabase(address);
  return isDatabase(address)
    ? postgresLedger(load)
    : sqliteLedger(`${address.replace(/\.json$/, "")}.spend.sqlite`);
}

/** Returns a ledger's file, for its owner only. It is opened at its first use, and again after a failure. */
export function sqliteLedger(path: string, uptimeMs = () => uptime() * 1000): LedgerDatabase {
  let opened: DatabaseSync | null = null;
  return {
    async change(budget, edit) {
      const database = (opened ??= openFile(path));
      database.exec("begin immediate");
      try {
        const row = database.prepare(lockState).get({ $1: budget });
        const [text, result] = edit(String(row?.["state"]), Math.floor(uptimeMs()));
        database.prepare(writeState).run({ $1: budget, $2: text });
        database.exec("commit");
        return result;
      } finally {
        if (database.isTransaction) database.exec("rollback");
      }
    },
    close: async () => opened?.close(),
  };
}

function openFile(path: string): DatabaseSync {
  closeSync(openSync(path, "a", 0o600));
  chmodSync(path, 0o600);
  const database = new DatabaseSync(path, { timeout: 2000 });
  try {
    database.exec(`pragma journal_mode = wal; pragma synchronous = normal; ${makeTable}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Returns a ledger that all routers share. The first statement of each transaction takes a lock. */
export function postgresLedger(open: () => Promise<Database>): LedgerDatabase {
  let opened: Promise<Database> | null = null;
  return {
    async change(budget, edit) {
      const database = await (opened ??= open());
      return database.transaction(async ({ query }) => {
        await query(
          `select pg_advisory_xact_lock(1801812339); create schema if not exists evaluator_router;
          set local search_path = evaluator_router; ${makeTable}`,
        );
        const [row] = await query<{ state: string }>(lockState, [budget]);
        const clock = "select floor(extract(epoch from clock_timestamp()) * 1000) as now";
        const [time] = await query<{ now: string }>(clock);
        const [text, result] = edit(row?.state ?? "{}", Number(time?.now));
        await query(writeState, [budget, text]);
        return result;
      });
    },
    close: async () => (await opened)?.close(),
  };
}
