import { rmSync } from "node:fs";
import process from "node:process";
import { constants, DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { isMainThread, Worker } from "node:worker_threads";
import type { Cell } from "../store/run-query.ts";

/**
 * The program of a process that runs one query: a running statement of SQLite in a thread cannot be
 * ended, not even at exit.
 */
export const processFile = import.meta.filename;

/** A query to begin, with its bounds; after it, `next` asks for more of its rows. */
export type Call =
  | "next"
  | (Record<"path" | "text", string> & Record<"timeoutMs" | "memoryMb", number>);

/** The names of the columns, some of the rows that are left or none, or why there are none. */
export interface Reply {
  readonly names?: readonly string[];
  readonly rows?: readonly (readonly Cell[])[];
  readonly error?: Readonly<Record<"failure" | "message", string>>;
  /** How the process ended. */
  readonly end?: string | number | null;
}

const TOO_BIG = 18;
// By the code of SQLite; an error without one is Node's, about memory.
const failures = new Map([
  [undefined, "memory"],
  [TOO_BIG, "size"],
  [23, "writes"],
]);

const WATCH_MS = 100;
const ROWS_AT_ONCE = 1000;
// In characters. With these the parent stayed below 270 MB, whatever the result.
const BATCH_LENGTH = 1_000_000;
const ROW_LENGTH = 2_000_000;
const limits = { length: 1_000_000, sqlLength: 1_000_000, likePatternLength: 1000, attach: 0 };

const { SQLITE_OK, SQLITE_DENY, SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE } =
  constants;
const reading = new Set([SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE]);

function serve(): void {
  let resultRows: Iterator<SQLOutputValue[], undefined> = [].values();
  const answerCall = (processCall: Call): Reply => {
    try {
      if (processCall === "next") return { rows: nextRows(resultRows) };
      const begunParts = begin(processCall);
      resultRows = begunParts.rows;
      return { names: begunParts.names };
    } catch (error) {
      const { message, errcode } = error as Error & { errcode?: number };
      return { error: { failure: failures.get(errcode) ?? "other", message } };
    }
  };
  process.on("message", (processCall: Call) => process.send?.(answerCall(processCall)));
  process.once("disconnect", leave);
}

function begin({ path, text, timeoutMs, memoryMb }: Exclude<Call, "next">) {
  void new Worker(import.meta.filename, {
    argv: [parent, folder, String(timeoutMs), String(memoryMb)],
  });
  const readDatabase = new DatabaseSync(path, { readOnly: true });
  Object.assign(readDatabase.limits, limits);
  readDatabase.setAuthorizer((action) => (reading.has(action) ? SQLITE_OK : SQLITE_DENY));
  const queryStatement = readDatabase.prepare(text);
  queryStatement.setReturnArrays(true);
  queryStatement.setReadBigInts(true);
  const rows = queryStatement.iterate() as unknown as Iterator<SQLOutputValue[], undefined>;
  return { rows, names: queryStatement.columns().map(({ name }) => name) };
}

function nextRows(sourceRows: Iterator<SQLOutputValue[], undefined>): Cell[][] {
  const batchRows: Cell[][] = [];
  for (let batchLength = 0; batchRows.length < ROWS_AT_ONCE && batchLength < BATCH_LENGTH;) {
    const nextRow = sourceRows.next();
    if (nextRow.done === true) break;
    const rowCells = nextRow.value.map(toCell);
    const rowLength = rowCells.reduce<number>((sum, cell) => sum + String(cell).length, 0);
    if (rowLength > ROW_LENGTH) throw Object.assign(new Error(), { errcode: TOO_BIG });
    batchLength += rowLength;
    batchRows.push(rowCells);
  }
  return batchRows;
}

function toCell(value: SQLOutputValue): Cell {
  if (value === null || typeof value === "string") return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  // Neither JSON nor a number of JavaScript holds all of them.
  const number = Number(value);
  const isKept = typeof value === "bigint" ? Number.isSafeInteger(number) : Number.isFinite(number);
  return isKept ? number : String(value);
}

/** Ends the process from a thread beside the one that is in SQLite. */
function watch(): void {
  setTimeout(end, Number(timeoutMs));
  setInterval(() => {
    if (process.ppid !== Number(parent)) leave();
    if (process.memoryUsage.rss() > Number(memoryMb) * 1e6) end();
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

const [, , parent = "", folder = "", timeoutMs = "", memoryMb = ""] = process.argv;
if (import.meta.main) (isMainThread ? serve : watch)();
