import { rmSync } from "node:fs";
import process from "node:process";
import { constants, DatabaseSync, type SQLOutputValue, type StatementSync } from "node:sqlite";
import { isMainThread, Worker } from "node:worker_threads";
import type { Cell, QueryTable } from "../postgres/index.ts";

// A process, since a running statement of SQLite in a thread cannot be ended, not even at exit.

/** This file, to start with the number of the parent's process and a folder for temporary files. */
export const processFile = import.meta.filename;

/** A call of a method of {@link QueryDatabase}. */
export interface Call {
  readonly name: keyof QueryDatabase;
  readonly input: readonly unknown[];
}

/** The result of a call, or the error that SQLite reported. */
export interface Reply {
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly code: number | null };
}

/** The most memory of the process, in MB. */
export const MEMORY_MB = 512;
/** The code of SQLite for a value that is too large. */
export const TOO_BIG = 18;

const WATCH_MS = 100;
const ROWS_AT_ONCE = 1000;
// In characters. With these the parent stayed below 270 MB, whatever the result.
const BATCH_LENGTH = 1_000_000;
const ROW_LENGTH = 2_000_000;
const limits = { length: 1_000_000, sqlLength: 1_000_000, likePatternLength: 1000, attach: 0 };

const types = { text: "TEXT", number: "REAL", json: "TEXT" };
const { SQLITE_OK, SQLITE_DENY, SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE } =
  constants;
const reading = new Set([SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE]);

/** Temporary tables in SQLite, and one query of them. */
export class QueryDatabase {
  // Without a name SQLite keeps it in a private temporary file.
  readonly #database = new DatabaseSync("");
  readonly #inserts = new Map<string, StatementSync>();
  #rows: Iterator<SQLOutputValue[], undefined> | null = null;

  create(tables: readonly QueryTable[]): void {
    this.#database.exec("BEGIN");
    for (const { name, columns } of tables) {
      const fields = columns.map((column) => `${quoted(column.name)} ${types[column.type]}`);
      this.#database.exec(`CREATE TABLE ${quoted(name)} (${fields.join(", ")})`);
      const insert = `INSERT INTO ${quoted(name)} VALUES (${columns.map(() => "?").join(", ")})`;
      this.#inserts.set(name, this.#database.prepare(insert));
    }
  }

  add(rows: readonly (readonly [table: string, cells: readonly Cell[]])[]): void {
    for (const [table, cells] of rows) {
      const values = cells.map((cell) => (typeof cell === "boolean" ? Number(cell) : cell));
      this.#inserts.get(table)?.run(...values);
    }
  }

  /** Begins a query and returns its columns; from now on the database is only read. */
  ask(text: string, timeoutMs: number): string[] {
    void new Worker(processFile, { argv: [parent, folder, String(timeoutMs)] });
    this.#database.exec("COMMIT; PRAGMA query_only = ON");
    Object.assign(this.#database.limits, limits);
    this.#database.setAuthorizer((action) => (reading.has(action) ? SQLITE_OK : SQLITE_DENY));
    const statement = this.#database.prepare(text);
    statement.setReturnArrays(true);
    statement.setReadBigInts(true);
    this.#rows = statement.iterate() as unknown as Iterator<SQLOutputValue[], undefined>;
    return statement.columns().map(({ name }) => name);
  }

  /** Returns some of the rows that are left, or none. */
  next(): Cell[][] {
    const rows: Cell[][] = [];
    for (let length = 0; rows.length < ROWS_AT_ONCE && length < BATCH_LENGTH;) {
      const next = this.#rows?.next();
      if (next?.done !== false) break;
      const cells = next.value.map(toCell);
      const rowLength = cells.reduce<number>((sum, cell) => sum + String(cell).length, 0);
      if (rowLength > ROW_LENGTH) throw Object.assign(new Error(), { errcode: TOO_BIG });
      length += rowLength;
      rows.push(cells);
    }
    return rows;
  }
}

function toCell(value: SQLOutputValue): Cell {
  if (value === null || typeof value === "string") return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  // Neither JSON nor a number of JavaScript holds all of them.
  const number = Number(value);
  const isKept = typeof value === "bigint" ? Number.isSafeInteger(number) : Number.isFinite(number);
  return isKept ? number : String(value);
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function serve(): void {
  const database = new QueryDatabase();
  process.on("message", (call: Call) => process.send?.(answer(database, call)));
  process.once("disconnect", leave);
}

function answer(database: QueryDatabase, { name, input }: Call): Reply {
  try {
    return { result: (database[name] as (...input: readonly unknown[]) => unknown)(...input) };
  } catch (error) {
    const { message, errcode = null } = error as Error & { errcode?: number };
    return { error: { message, code: errcode } };
  }
}

/** Ends the process from a thread beside the one that is in SQLite. */
function watch(): void {
  setTimeout(end, Number(timeoutMs));
  setInterval(() => {
    if (process.ppid !== Number(parent)) leave();
    if (process.memoryUsage.rss() > MEMORY_MB * 1e6) end();
  }, WATCH_MS);
}

/** Removes the folder and ends the process, after a parent that was killed. */
function leave(): void {
  rmSync(folder, { recursive: true, force: true });
  end();
}

function end(): void {
  process.kill(process.pid, "SIGKILL");
}

const [, , parent = "", folder = "", timeoutMs = ""] = process.argv;
if (import.meta.main) (isMainThread ? serve : watch)();
