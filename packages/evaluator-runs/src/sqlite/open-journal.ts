import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import {
  checkRightsAdvice,
  CliError,
  closedOnError,
  openPrivateDatabase,
  printable,
  toFileError,
} from "evaluator-kit";
import type { Machine } from "../machine.ts";
import { journalTables, keepEarlier, laterTables, upgrades } from "./journal-tables.ts";
import { lockFile } from "./lock-file.ts";

const moveIt = "Move it away to start a new one; its answers are then asked for again.";

// Result codes of SQLite, without the extension in their upper bits.
const BUSY = 5;
const CORRUPT = 11;
const reasons = new Map([
  [BUSY, "is in use by another run; wait for its end."],
  [8, `cannot be written. ${checkRightsAdvice}`],
  [10, "cannot be read or written: the disk fails or is full. Make room and run again."],
  [CORRUPT, `is damaged. ${moveIt}`],
  [13, "needs room: its disk or that of temporary files is full. Make room and run again."],
  [14, `cannot be opened. ${checkRightsAdvice}`],
  [26, `is not a journal. ${moveIt}`],
]);

/** How long a step waits for a reader that has the index of the log, in milliseconds. Chosen. */
const BUSY_TIMEOUT_MS = 5000;

/** Returns an error of SQLite as a message about the journal; any other error unchanged. */
export function toJournalError(error: unknown, path: string): unknown {
  // A kept text that is no JSON is damaged too.
  const errcode = error instanceof SyntaxError ? CORRUPT : findErrcode(error);
  if (errcode === undefined) return error;
  const reason = reasons.get(errcode & 0xff) ?? `cannot be used: ${(error as Error).message}.`;
  return new CliError(printable`The journal ${path} ${reason}`, { cause: error });
}

/**
 * Opens a journal for one run alone, and creates its tables if it is new.
 *
 * @throws CliError if another run has it, its folder cannot be written, or it is damaged, or of another version or program.
 */
export function openForWriting(path: string, machine: Machine) {
  try {
    const unlock = lockFile(toLockPath(path), machine);
    try {
      const prepare = (database: DatabaseSync) => prepareDatabase(database, path);
      const options = { ...machine, timeout: BUSY_TIMEOUT_MS };
      return { database: openPrivateDatabase(path, prepare, options), unlock };
    } catch (error) {
      unlock();
      throw error;
    }
  } catch (error) {
    throw toJournalError(toFileError(error, `write ${path}`), path);
  }
}

/** Returns the error of a journal without answers. */
export function withoutRun(problem: string): CliError {
  return new CliError(`${problem}; start a run about its input first.`);
}

/**
 * Opens a journal for reading; changes nothing.
 *
 * @throws CliError if it is missing, damaged, or of another version or program.
 */
export function openForReading(path: string, { isChecked = true, takesOlder = false } = {}) {
  const url = pathToFileURL(path);
  // Without a log no process writes, and SQLite would create a log for reading.
  if (!existsSync(`${path}-wal`)) url.searchParams.set("immutable", "1");
  try {
    const database = new DatabaseSync(url, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    return closedOnError(database, () => {
      if (isEmpty(database)) {
        throw withoutRun(printable`The journal ${path} is empty`);
      }
      const version = checkVersion(database, path);
      if (version < READABLE_VERSION && !takesOlder) {
        const next = "start the run again; nothing is asked twice";
        throw new CliError(printable`${path} is of an older version; ${next}.`);
      }
      if (isChecked) checkDamage(database);
      if (version < 5) database.exec("CREATE TEMP VIEW records AS SELECT * FROM mails");
      const find = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?");
      for (const [name, table] of Object.entries(laterTables)) {
        if (find.get(name) === undefined) database.exec(`CREATE TEMP TABLE ${table}`);
      }
    });
  } catch (error) {
    throw toJournalError(error, path);
  }
}

/**
 * Puts records away until a day, or takes them back with an empty text; also while a run is under way.
 *
 * @throws CliError if the journal cannot be written.
 */
export function putAway(path: string, ids: readonly string[], until: string): void {
  try {
    using database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    database.exec(`BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS ${laterTables.choices}`);
    const put = database.prepare("INSERT OR REPLACE INTO choices VALUES (?, ?)");
    for (const id of ids) put.run(id, until);
    database.exec("COMMIT");
  } catch (error) {
    throw toJournalError(error, path);
  }
}

/** Returns whether a run has the journal now; the lock of a killed run does not count. */
export function isRunUnderWay(path: string): boolean {
  const lockPath = toLockPath(path);
  if (!existsSync(lockPath)) return false;
  try {
    using lock = new DatabaseSync(lockPath, { readOnly: true, timeout: 0 });
    lock.prepare("SELECT 1 FROM sqlite_schema").get();
    return false;
  } catch (error) {
    if (findErrcode(error) !== undefined) return findErrcode(error) === BUSY;
    throw error;
  }
}

/** Returns SQLite's code of an error. No instanceof: in jest, its errors are of another realm. */
function findErrcode(error: unknown): number | undefined {
  return (error as { errcode?: number } | null | undefined)?.errcode;
}

function toLockPath(path: string): string {
  return path.replace(/\.sqlite$/, ".lock");
}

function prepareDatabase(database: DatabaseSync, path: string): void {
  let change = journalTables;
  if (isEmpty(database)) database.exec(`PRAGMA page_size = ${PAGE_BYTES}`);
  else {
    const version = checkVersion(database, path);
    change = Object.keys(upgrades)
      .filter((from) => Number(from) >= version)
      .map((from) => upgrades[Number(from)])
      .join("\n");
    checkDamage(database);
  }
  // Copying the log into the file delays answers: at 16 MB that is not often and not long
  // (benchmark: triage). The query rejects a file without tables.
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 2000; BEGIN IMMEDIATE; ${change}
    CREATE TABLE IF NOT EXISTS ${laterTables.refusals};
    CREATE TABLE IF NOT EXISTS ${laterTables.earlier}; ${keepEarlier};
    PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${VERSION};
    SELECT facts FROM runs LIMIT 0; COMMIT`);
}

/** Returns whether a file has no pages, or one without content, which an early kill leaves. */
function isEmpty(database: DatabaseSync): boolean {
  if (readPragma(database, "page_count") === 0) return true;
  const isMarked = ["application_id", "user_version"].some(
    (name) => readPragma(database, name) !== 0,
  );
  return !isMarked && database.prepare("SELECT 1 FROM sqlite_schema").get() === undefined;
}

/** Returns the version of the tables. @throws CliError if this program cannot bring it up to date */
function checkVersion(database: DatabaseSync, path: string): number {
  if (readPragma(database, "application_id") !== APPLICATION_ID) {
    throw new CliError(printable`${path} is not a journal of this program; move it away.`);
  }
  const version = Number(readPragma(database, "user_version"));
  if (version === VERSION || Object.hasOwn(upgrades, version)) return version;
  const problem = printable`The journal ${path} is of version ${String(version)}, not ${String(VERSION)}.`;
  throw new CliError(`${problem} Use the program that wrote it, or move it away.`);
}

/** Throws if SQLite finds damage in the file. */
function checkDamage(database: DatabaseSync): void {
  if (readPragma(database, "quick_check") !== "ok") {
    throw Object.assign(new Error("quick_check"), { errcode: CORRUPT });
  }
}

function readPragma(database: DatabaseSync, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}

// Chosen: a page holds three answers.
const PAGE_BYTES = 8192;
// Marks a file as a journal.
const APPLICATION_ID = 0x54524947;
// Goes up when the tables change; a journal of another version is rejected.
const VERSION = 6;
// Readers need no run to bring it up to date: they need no column that it lacks.
const READABLE_VERSION = 4;
