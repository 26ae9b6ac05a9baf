import { uptime } from "node:os";
import { isDatabaseUrl, openPrivateDatabase } from "evaluator-kit";
import type { Query } from "evaluator-runs/postgres";

/** A table of texts with names, in SQLite or in PostgreSQL. */
interface TextTable {
  readonly query: Query;
  readonly table: string;
  /** Returns the SQL of a clock that is never set, in milliseconds. */
  readonly clock: () => string;
  readonly close: () => Promise<void>;
}

type OpenDatabase = () => Promise<Pick<TextTable, "query" | "close">>;

function makeTable(tableName: string): string {
  return `create table if not exists ${tableName} (name text primary key, state text not null)`;
}

/** Opens a table of texts in PostgreSQL. Its errors hold no address. */
export async function openPostgresTable(
  tableKind: "keys" | "budgets",
  address: string,
  open: OpenDatabase = async () => (await import("evaluator-runs/postgres")).openDatabase(address),
): Promise<TextTable> {
  const { query, close } = await open();
  const table = `evaluator_router.${tableKind}`;
  // Routers that start at once wait for each other.
  const makeSchema =
    "select pg_advisory_xact_lock(1801812339); create schema if not exists evaluator_router";
  await query(`${makeSchema}; ${makeTable(table)}`);
  return { query, table, clock: serverClock, close };
}

const serverClock = () => "floor(extract(epoch from clock_timestamp()) * 1000)";

/** Opens the ledger of the keys in a file or a database: `router-keys.spend.sqlite` for `router-keys.json`. */
export function openLedger(address: string): Promise<TextTable> {
  return isDatabaseUrl(address)
    ? openPostgresTable("budgets", address)
    : sqliteLedger(`${address.replace(/\.json$/, "")}.spend.sqlite`);
}

/** Opens a ledger's file, for its owner only. */
export async function sqliteLedger(
  databasePath: string,
  uptimeMs = () => uptime() * 1000,
): Promise<TextTable> {
  const table = "router_budgets";
  const prepareSql = `pragma journal_mode = wal; pragma synchronous = normal; ${makeTable(table)}`;
  const openOptions = { timeout: 2000 };
  const database = openPrivateDatabase(
    databasePath,
    (openedDatabase) => openedDatabase.exec(prepareSql),
    openOptions,
  );
  const query = async (queryText: string, queryValues: readonly unknown[] = []) => {
    const parameters = queryValues.map((value, at) => [`$${at + 1}`, value as string | null]);
    return database.prepare(queryText).all(Object.fromEntries(parameters)) as never[];
  };
  return {
    query,
    table,
    clock: () => String(Math.floor(uptimeMs())),
    close: async () => database.close(),
  };
}

/** Returns a text, null if it is missing, and the time. */
export async function readText({ query, table, clock }: TextTable, rowName: string) {
  const selectSql = `select (select state from ${table} where name = $1) as state, ${clock()} as now`;
  const [row] = await query<{ state: string | null; now: string | number }>(selectSql, [rowName]);
  return { text: row?.state ?? null, nowMs: Number(row?.now) };
}

/** Changes a text. The edit is repeated if another process has changed the text in the meantime. */
export async function changeText<TResult>(
  textTable: TextTable,
  rowName: string,
  editText: (oldText: string | null, nowMs: number) => readonly [text: string, result: TResult],
): Promise<TResult> {
  const swapSql = `insert into ${textTable.table} as kept (name, state) values ($1, $3)
    on conflict (name) do update set state = $3 where kept.state = $2 returning name`;
  for (;;) {
    const { text, nowMs } = await readText(textTable, rowName);
    const [newText, result] = editText(text, nowMs);
    if (newText === text) return result;
    const swappedRows = await textTable.query(swapSql, [rowName, text, newText]);
    if (swappedRows.length > 0) return result;
  }
}
