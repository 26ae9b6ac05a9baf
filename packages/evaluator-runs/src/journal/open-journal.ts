import { chmodSync, closeSync, existsSync, openSync, rmSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { CliError, printable, systemErrorCode } from "evaluator-kit";
import {
  applicationId,
  journalTables,
  journalUpgrade,
  journalVersion,
  pageSize,
  refusalsTable,
} from "./journal-schema.ts";

const moveIt = "Move it away to start a new one; the answers in it are then asked for again.";

// Result codes of SQLite, without the extension in their upper bits.
const BUSY = 5;
const CORRUPT = 11;
const reasons = new Map([
  [BUSY, "is in use by another run. Wait for its end, or end it."],
  [8, "cannot be written. Check the rights of the file and its folder."],
  [10, "cannot be written or read: the disk fails or is full. Make room and run again."],
  [CORRUPT, `is damaged. ${moveIt}`],
  [13, "needs more room: its disk, or that of temporary files, is full. Make room and run again."],
  [14, "cannot be opened. Check the rights of the file and its folder."],
  [26, `is not a journal. ${moveIt}`],
]);

/** How long a step waits for a reader that has the index of the log, in milliseconds. Chosen. */
const BUSY_TIMEOUT_MS = 5000;
/** How long a run waits for the lock, which who looks for a run has for an instant; chosen. */
const LOCK_TIMEOUT_MS = 250;

/** A journal that is open for writing. */
export type OpenJournal = ReturnType<typeof openForWriting>;

/** Returns an error of SQLite as what is wrong with the journal; any other error as it is. */
export function toJournalError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !("errcode" in error)) return error;
  const reason = reasons.get(Number(error.errcode) & 0xff) ?? `cannot be used: ${error.message}.`;
  return new CliError(printable`The journal ${path} ${reason}`, { cause: error });
}

/**
 * Opens the file of a journal for this run alone, and makes its tables when it is new.
 *
 * @throws CliError when another run has it, or it is damaged, of another version or program.
 */
export function openForWriting(path: string) {
  try {
    const unlock = lockFile(lockPathOf(path));
    try {
      const database = openDatabase(path);
      const close = () => {
        database.close();
        unlock();
      };
      return { database, close };
    } catch (error) {
      unlock();
      throw error;
    }
  } catch (error) {
    throw toJournalError(error, path);
  }
}

/** How a journal is opened to be read. */
export interface ReadingOptions {
  /** Whether it is looked through for damage first, which takes as long as it is large. @default true */
  readonly isChecked?: boolean;
}

/**
 * Opens a journal to read what runs have left in it, one under way included; changes nothing.
 *
 * @throws CliError when it is missing, damaged, of another version or program.
 */
export function openForReading(
  path: string,
  { isChecked = true }: ReadingOptions = {},
): DatabaseSync {
  const url = pathToFileURL(path);
  // Without a log nobody writes, and SQLite would make one to read.
  if (!hasLog(path)) url.searchParams.set("immutable", "1");
  try {
    const database = new DatabaseSync(url, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    return closedOnError(database, () => {
      if (isEmpty(database)) {
        const problem = printable`${path} is not a journal yet: there is nothing in it`;
        throw new CliError(`${problem}; run triage on its file first.`);
      }
      checkVersion(database, path);
      if (isOfVersionBefore(database)) {
        const problem = printable`${path} is of an older version`;
        throw new CliError(
          `${problem}; run triage on its file, which brings it up to date and asks nothing again.`,
        );
      }
      if (isChecked) checkDamage(database);
      if (!hasRefusals(database)) database.exec(`CREATE TEMP TABLE ${refusalsTable}`);
    });
  } catch (error) {
    throw toJournalError(error, path);
  }
}

/** Returns whether a journal has a log beside it: a run is under way, or was killed. */
export function hasLog(path: string): boolean {
  return existsSync(`${path}-wal`);
}

/** Returns whether a run has the journal now; the lock that a killed one left does not count. */
export function isRunUnderWay(path: string): boolean {
  const lockPath = lockPathOf(path);
  if (!existsSync(lockPath)) return false;
  try {
    using lock = new DatabaseSync(lockPath, { readOnly: true, timeout: 0 });
    lock.prepare("SELECT 1 FROM sqlite_schema").get();
    return false;
  } catch (error) {
    if (error instanceof Error && "errcode" in error) return Number(error.errcode) === BUSY;
    throw error;
  }
}

function lockPathOf(path: string): string {
  return path.replace(/\.sqlite$/, ".lock");
}

/**
 * Takes the lock on a file. SQLite's is an OS file lock, released even after SIGKILL; it has a file
 * of its own, since the journal's lock would keep readers out.
 */
function lockFile(path: string): () => void {
  for (;;) {
    const inode = inodeOf(path) ?? createdInode(path);
    const lock = new DatabaseSync(path, { timeout: LOCK_TIMEOUT_MS });
    // No log on the disk: SQLite makes one with the rights of the file, which may be gone by now.
    closedOnError(lock, () => lock.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE"));
    const unlock = () => {
      if (process.platform !== "win32") rmSync(path, { force: true }); // no open file goes there
      lock.close();
    };
    // Whoever had the lock before may have removed the file while we opened it.
    if (inodeOf(path) === inode) return unlock;
    lock.close();
  }
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}

// An existing file is never opened here: closing it would release this process's lock on it.
function createdInode(path: string): bigint | undefined {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (systemErrorCode(error) !== "EEXIST") throw error;
  }
  return inodeOf(path);
}

function openDatabase(path: string): DatabaseSync {
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
  for (const file of [path, `${path}-wal`, `${path}-shm`]) makePrivate(file);
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  return closedOnError(database, () => prepareDatabase(database, path));
}

// It holds mail. What is missing gets the rights of the journal from SQLite, and not every disk has any.
function makePrivate(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch {}
}

function prepareDatabase(database: DatabaseSync, path: string): void {
  const isNew = isEmpty(database);
  if (isNew) database.exec(`PRAGMA page_size = ${pageSize}`);
  else {
    checkVersion(database, path);
    checkDamage(database);
  }
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  // Moving the pages of the log into the file holds up the answers: each 16 MB that is not often,
  // and not for long (benchmark: triage).
  database.exec("PRAGMA wal_autocheckpoint = 2000; BEGIN IMMEDIATE");
  if (isNew) database.exec(journalTables);
  else if (isOfVersionBefore(database)) database.exec(journalUpgrade);
  database.exec(`CREATE TABLE IF NOT EXISTS ${refusalsTable}`);
  database.exec(`PRAGMA application_id = ${applicationId}`);
  database.exec(`PRAGMA user_version = ${journalVersion}; COMMIT`);
}

// A first run that was killed early leaves a file of no pages, or of one with nothing in it.
function isEmpty(database: DatabaseSync): boolean {
  if (readPragma(database, "page_count") === 0) return true;
  const isMarked = ["application_id", "user_version"].some(
    (name) => readPragma(database, name) !== 0,
  );
  return !isMarked && database.prepare("SELECT 1 FROM sqlite_schema").get() === undefined;
}

function hasRefusals(database: DatabaseSync): boolean {
  return (
    database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'refusals'").get() !== undefined
  );
}

function checkVersion(database: DatabaseSync, path: string): void {
  if (readPragma(database, "application_id") !== applicationId) {
    throw new CliError(printable`${path} is not a journal of this program; move it away.`);
  }
  const version = readPragma(database, "user_version");
  if (version !== journalVersion && !isOfVersionBefore(database)) {
    const problem = printable`The journal ${path} is of version ${String(version)}, not ${String(journalVersion)}.`;
    throw new CliError(`${problem} Use the program that wrote it, or move it away.`);
  }
}

function isOfVersionBefore(database: DatabaseSync): boolean {
  return readPragma(database, "user_version") === journalVersion - 1;
}

function checkDamage(database: DatabaseSync): void {
  if (readPragma(database, "quick_check") !== "ok") {
    throw Object.assign(new Error("quick_check"), { errcode: CORRUPT });
  }
}

function readPragma(database: DatabaseSync, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}

function closedOnError(database: DatabaseSync, prepare: () => void): DatabaseSync {
  try {
    prepare();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
