import type { Database } from "evaluator-runs/postgres";
import { isDatabase } from "./key-store.ts";
import { Ledger, type LedgerDatabase, ledgerTables } from "./ledger.ts";
import { sqliteLedger } from "./sqlite-ledger.ts";

/** Opens the ledger of the keys in a file or a database: `router-keys.spend.sqlite` for `router-keys.json`. */
export function openLedger(address: string, leaseMs: number): Ledger {
  const path = `${address.replace(/\.json$/, "")}.spend.sqlite`;
  const load = async () => (await import("evaluator-runs/postgres")).openDatabase(address);
  return new Ledger(isDatabase(address) ? postgresLedger(load) : sqliteLedger(path), { leaseMs });
}

/** Returns a ledger in PostgreSQL, which all routers share; the driver is loaded at its first use. */
export function postgresLedger(open: () => Promise<Database>): LedgerDatabase {
  let opened: Promise<Database> | null = null;
  let hasTables = false;
  return {
    async transaction(run) {
      const database = await (opened ??= open());
      if (!hasTables) await database.query(makeTables);
      hasTables = true;
      return database.transaction(async ({ query }) => {
        await query("set local search_path = evaluator_router");
        return run((text, values) => query(text, [...values]));
      });
    },
    async nowMs(query) {
      const text = "select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now";
      const [row] = await query<{ now: string }>(text, []);
      return Number(row?.now);
    },
    close: async () => (await opened)?.close(),
  };
}

/** Routers that start at once wait for each other: the number is that of the keys' lock. */
const makeTables = `begin;
  select pg_advisory_xact_lock(1801812339);
  create schema if not exists evaluator_router;
  set local search_path = evaluator_router;
  ${ledgerTables}
  commit`;
