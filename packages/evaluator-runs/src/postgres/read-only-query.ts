import { escapeIdentifier } from "pg";
import type { Cell, QueryResult, QueryTable, RunQuery } from "../store/run-query.ts";
import type { Database, Query, Session } from "./database.ts";
import { DatabaseError, toDatabaseError } from "./database-error.ts";
import { rowBatches } from "./run-reader.ts";

// Chosen: a longer query is probably a mistake.
const TIMEOUT_MS = 60_000;
// The driver holds these rows whole, and as text twice their bytes.
const ROWS_AT_ONCE = 100;
const CELL_BYTES = 1_000_000;
const ROW_BYTES = 2_000_000;

/**
 * Runs a person's query over temporary tables, on a separate connection, in a read-only transaction
 * that is rolled back, which also undoes notifications and large objects.
 */
export async function readOnlyQuery<TResult>(
  database: Database,
  query: RunQuery,
  use: (result: QueryResult) => Promise<TResult>,
): Promise<TResult> {
  const { timeoutMs = TIMEOUT_MS } = query;
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const ask = async (session: Session) => {
    try {
      await session.query("set transaction isolation level repeatable read");
      const ownsJournal = await checkRole(session.query, query);
      await fill(session, query);
      await session.query(`set transaction read only; set local statement_timeout = ${timeoutMs}`);
      timer = setTimeout(() => late.abort(tookTooLong(null)), timeoutMs);
      return await use({ ...(await open(session, query.text)), ownsJournal });
    } finally {
      clearTimeout(timer);
      // The commit that follows is then empty. The server rolls a cut connection back.
      await session.query("rollback").catch(() => {});
    }
  };
  return await database.transaction(ask, AbortSignal.any([query.signal, late.signal]));
}

/** Throws if the login role can act outside the transaction; returns whether it may write. */
async function checkRole(query: Query, { allowSuperuser = false }: RunQuery): Promise<boolean> {
  // Includes roles that it may become: a query can call set_config('role', ...).
  const [role] = await query<{ name: string; isDangerous: boolean; ownsJournal: boolean }>(`
    select session_user::text as name,
      exists (select from pg_catalog.pg_roles
        where (rolsuper or rolname in ('pg_read_server_files', 'pg_write_server_files',
          'pg_execute_server_program')) and pg_catalog.pg_has_role(session_user, oid, 'member')
      ) as "isDangerous",
      pg_catalog.has_table_privilege(session_user, 'evaluator.answers', 'insert') as "ownsJournal"`);
  if (role !== undefined && (allowSuperuser || !role.isDangerous)) return role.ownsJournal;
  throw new DatabaseError(
    `The role ${role?.name} may read and write files of the server, which no rollback undoes. Ask as a role that only reads: create role triage_reader login password '...'; grant usage on schema evaluator to triage_reader; grant select on all tables in schema evaluator to triage_reader; grant temporary on database NAME to triage_reader;`,
    { failure: "query-role" },
  );
}

const typeNames = { text: "text", number: "double precision", json: "json" };
const declaration = "declare evaluator_query no scroll cursor for\n";

/** Opens a cursor of the query alone, whose errors name its characters, then one with its sizes. */
async function open(session: Session, text: string) {
  // A cursor takes only a reading statement, and the protocol no second one with it.
  await runOne(session, `${declaration}${text}\n`, declaration.length);
  const { fields } = await runOne(session, "fetch 0 from evaluator_query");
  await runOne(session, "close evaluator_query");
  await runOne(session, `${declaration}${withSizes(text, fields.length)}`);
  return { names: fields.map(({ name }) => name), rows: listRows(session, fields.length) };
}

/**
 * Runs one statement that a person wrote; their text begins at `start`.
 *
 * @throws DatabaseError with the problem and its place.
 */
async function runOne(session: Session, text: string, start = 0) {
  try {
    return await session.runOne(text, cellParsers);
  } catch (error) {
    throw toQueryError(error, start);
  }
}

/**
 * Returns a query with a last column that says whether a row is too large; its cells are null then,
 * so that the driver never holds them. With `offset 0` no expression is evaluated twice.
 */
function withSizes(text: string, count: number): string {
  if (count === 0) return text;
  const columns = Array.from({ length: count }, (_, at) => `c${at}`);
  const sizes = columns.map((column) => `coalesce(octet_length(${column}::text), 0)::bigint`);
  const cells = columns.map((column) => `case when not is_large then ${column} end`);
  return `select ${cells.join(", ")}, is_large from (
    select *, greatest(${sizes.join(", ")}) > ${CELL_BYTES} or ${sizes.join(" + ")} > ${ROW_BYTES}
      as is_large
    from (select * from (\n${text}\n) as asked offset 0) as named (${columns.join(", ")}) offset 0
  ) as measured`;
}

async function* listRows(session: Session, columns: number) {
  for (let isLast = false; !isLast;) {
    const { rows } = await runOne(session, `fetch ${ROWS_AT_ONCE} from evaluator_query`);
    if (rows.some((row) => row[columns] === true)) {
      const message = "A value is over 1 MB, or a row over 2 MB.";
      throw new DatabaseError(message, { failure: "query-size" });
    }
    for (const row of rows) yield row.slice(0, columns);
    isLast = rows.length < ROWS_AT_ONCE;
  }
}

/** Makes the tables and fills them; the transaction's end removes them. */
async function fill(session: Session, query: RunQuery): Promise<void> {
  const { run, tables, cellsOf, given: givenItems, signal } = query;
  for (const { name, columns } of [...tables, ...givenItems]) {
    const fields = columns.map(
      (column) => `${escapeIdentifier(column.name)} ${typeNames[column.type]}`,
    );
    await session.query(`create temporary table ${escapeIdentifier(name)} (${fields.join(", ")})`);
  }
  for (const table of givenItems) await insert(session.query, table, table.rows);
  if (tables.length === 0) return;
  for await (const rows of rowBatches(session.query, run)) {
    signal.throwIfAborted();
    const cells = rows.map(cellsOf);
    for (const [at, table] of tables.entries()) {
      const ofTable = cells.flatMap((ofRow) => (ofRow[at] == null ? [] : [ofRow[at]]));
      await insert(session.query, table, ofTable);
    }
  }
}

async function insert(
  query: Query,
  { name, columns }: QueryTable,
  rows: readonly (readonly Cell[])[],
): Promise<void> {
  const lists = columns.map(({ type }, at) => `$${at + 1}::${typeNames[type]}[]`).join(", ");
  const values = columns.map((_, at) => rows.map((cells) => toText(cells[at] ?? null)));
  const table = `pg_temp.${escapeIdentifier(name)}`;
  await query(`insert into ${table} select * from unnest(${lists})`, values);
}

// A text of PostgreSQL holds no zero and no half of a surrogate pair.
function toText(cell: Cell): string | null {
  return cell === null ? null : String(cell).replaceAll("\0", "").toWellFormed();
}

// By the number of their PostgreSQL type.
const numbers = [20, 21, 23, 700, 701, 1700].map((type) => [type, toNumber] as const);
const cellParsers = { 16: (text: string) => text === "t", ...Object.fromEntries(numbers) };

function toNumber(text: string): Cell {
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}

/**
 * Converts an error of `pg` about a person's statement. Keeps PostgreSQL's message about its words, but
 * not about values, which it quotes.
 */
function toQueryError(error: unknown, start: number): DatabaseError {
  const failure = toDatabaseError(error);
  const code = failure.code ?? "";
  if (code === "57014") return tookTooLong(code);
  const problem = listProblems(toldBy(error, start)).find(([codes]) => codes.test(code))?.[1];
  if (problem === undefined) return failure;
  return new DatabaseError(`${problem} (code ${code})`, { failure: "query", code });
}

/** Returns the error of a query that did not end in time. */
function tookTooLong(code: string | null): DatabaseError {
  return new DatabaseError("The query took too long.", { failure: "query-time", code });
}

function listProblems(message: string): readonly (readonly [RegExp, string])[] {
  return [
    [/^25006$/, `A query only reads: ${message}.`],
    [/^42501$/, `This user may not read that: ${message}.`],
    [/^(?:42|0A|25)/, `PostgreSQL refused the query: ${message}.`],
    [/^(?:21|22)/, "A value does not fit its use; add a cast or a condition."],
    [/^(?:54|XX000)/, "The query is too large for the server. Ask for less."],
  ];
}

// The position is counted from 1, over the whole statement.
function toldBy(error: unknown, start: number): string {
  const { message = "", position = "", hint = "" } = Object(error) as Record<string, string>;
  const at = Number(position) - start;
  const where = at > 0 ? ` at character ${at}` : "";
  return `${message}${where}${hint === "" ? "" : `. ${hint.replace(/\.$/, "")}`}`;
}
