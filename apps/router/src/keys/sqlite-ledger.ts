import { chmodSync, closeSync, openSync } from "node:fs";
import { uptime } from "node:os";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { type LedgerDatabase, ledgerTables, type Query } from "./ledger.ts";

/** How long a statement waits for another process, in milliseconds. Chosen. */
const BUSY_TIMEOUT_MS = 2000;

/** A transaction that waits for another one blocks the thread, so a process has one at a time. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Returns a ledger's file, for its owner only. It is opened at its first use, and again after a failure.
 *
 * @param uptimeMs - A step of the clock would end all leases, or keep that of a dead process.
 */
export function sqliteLedger(path: string, uptimeMs = () => uptime() * 1000): LedgerDatabase {
  let opened: DatabaseSync | null = null;
  async function runAlone<TResult>(run: (query: Query) => Promise<TResult>): Promise<TResult> {
    const database = (opened ??= open(path));
    database.exec("begin immediate");
    try {
      const result = await run(toQuery(database));
      database.exec("commit");
      return result;
    } catch (error) {
      if (database.isTransaction) database.exec("rollback");
      throw error;
    }
  }
  return {
    transaction(run) {
      const result = last.then(() => runAlone(run));
      last = result.catch(() => undefined);
      return result;
    },
    nowMs: async () => Math.floor(uptimeMs()),
    async close() {
      await last;
      opened?.close();
    },
  };
}

function open(path: string): DatabaseSync {
  closeSync(openSync(path, "a", 0o600));
  chmodSync(path, 0o600);
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    database.exec(`pragma journal_mode = wal; pragma synchronous = normal; ${ledgerTables}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function toQuery(database: DatabaseSync): Query {
  const statements = new Map<string, StatementSync>();
  return async <TRow extends object>(text: string, values: readonly (string | number)[]) => {
    const statement = statements.get(text) ?? database.prepare(text);
    statements.set(text, statement);
    const named = Object.fromEntries(values.map((value, at) => [`$${at + 1}`, value]));
    return statement.all(named) as TRow[];
  };
}
