import { escapeIdentifier } from "pg";
import { toCopyLine } from "./copy-text.ts";
import type { Database, Session } from "./database.ts";
import { type RunRow, rowBatches } from "./run-rows.ts";
import type { Cell, QueryRows } from "./run-statement.ts";

// Chosen: who asks for more than this asks for something else than was meant.
const LONGEST_MS = 60_000;
// Chosen, not measured: few round trips, in little memory.
const ROWS_AT_ONCE = 1000;

/** A table that a query of a person's own reads. */
export interface QueryTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: "text" | "number" | "json" }[];
}

/** What a person asks of a run. */
export interface RunQuery {
  /** One statement that begins with select, with or values. */
  readonly text: string;
  readonly run: number;
  /** Filled with the records of the run. */
  readonly tables: readonly QueryTable[];
  /** Returns for each table the cells that a record has there; null for none. */
  readonly cellsOf: (row: RunRow) => readonly (readonly Cell[] | null)[];
  /** Filled with rows that are given. */
  readonly given: readonly (QueryTable & { readonly rows: readonly (readonly Cell[])[] })[];
  /** Ends the reading. */
  readonly signal: AbortSignal;
  /** After so many milliseconds each step of it ends. @default 60_000 */
  readonly longestMs?: number;
}

/** What a query came to, row by row. */
export interface QueryResult {
  readonly names: readonly string[];
  readonly rows: AsyncIterable<readonly Cell[]>;
}

/**
 * Asks a person's own query of tables that are gone after it, in one transaction that only reads
 * from there on.
 */
export async function readOnlyQuery<TResult>(
  database: Database,
  query: RunQuery,
  use: (result: QueryResult) => Promise<TResult>,
): Promise<TResult> {
  return await database.transaction(async (session) => {
    await session.query("set transaction isolation level repeatable read");
    for (const { name, columns } of [...query.tables, ...query.given]) {
      const fields = columns.map(
        (column) => `${escapeIdentifier(column.name)} ${typeNames[column.type]}`,
      );
      await session.query(
        `create temporary table ${escapeIdentifier(name)} (${fields.join(", ")}) on commit drop`,
      );
    }
    await fill(session, query);
    const { longestMs = LONGEST_MS } = query;
    await session.query(`set transaction read only; set local statement_timeout = ${longestMs}`);
    // A cursor is of a statement that reads, and the protocol takes no second statement with it.
    await session.runOne(`${declaration}${query.text}\n`, declaration.length);
    const first = await session.runOne(fetchStatement, 0);
    return await use({ names: first.names, rows: restOf(first, session) });
  });
}

const typeNames = { text: "text", number: "double precision", json: "json" };
const declaration = "declare evaluator_query no scroll cursor for\n";
const fetchStatement = `fetch ${ROWS_AT_ONCE} from evaluator_query`;

async function* restOf(first: QueryRows, session: Session): AsyncGenerator<readonly Cell[]> {
  let { rows } = first;
  while (rows.length > 0) {
    yield* rows;
    rows = rows.length < ROWS_AT_ONCE ? [] : (await session.runOne(fetchStatement, 0)).rows;
  }
}

async function fill(session: Session, query: RunQuery): Promise<void> {
  const { run, tables, cellsOf, given, signal } = query;
  for (const table of given) await copyTo(session, table, table.rows);
  if (tables.length === 0) return;
  for await (const rows of rowBatches(session.query, run)) {
    signal.throwIfAborted();
    const cells = rows.map(cellsOf);
    for (const [at, table] of tables.entries()) {
      await copyTo(
        session,
        table,
        cells.flatMap((ofRow) => (ofRow[at] == null ? [] : [ofRow[at]])),
      );
    }
  }
}

async function copyTo(
  { copyIn }: Session,
  { name }: QueryTable,
  rows: readonly (readonly Cell[])[],
): Promise<void> {
  const lines = rows.map((cells) => toCopyLine(cells.map(toCopyCell)));
  await copyIn(
    `copy pg_temp.${escapeIdentifier(name)} from stdin`,
    ReadableStream.from([lines.join("")]),
  );
}

// A text of PostgreSQL holds no zero and no half of a surrogate pair.
function toCopyCell(cell: Cell): string | null {
  return cell === null ? null : String(cell).replaceAll("\0", "").toWellFormed();
}
