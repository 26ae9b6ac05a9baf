import { closeSync, existsSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { TriageError } from "../errors.ts";
import { toJournalError } from "./journal-error.ts";
import { applicationId, journalTables, journalVersion, pageSize } from "./journal-schema.ts";
import { plainMessage } from "../text/plain-message.ts";

/**
 * Opens the file of a journal for this process alone, and makes its tables when it is new.
 *
 * @throws TriageError when another process has it, or it is damaged, of another version or program.
 */
export function openDatabase(path: string): DatabaseSync {
  try {
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600)); // it holds mail
    const database = new DatabaseSync(path, { timeout: 0 });
    try {
      prepareDatabase(database, path);
    } catch (error) {
      database.close();
      throw error;
    }
    return database;
  } catch (error) {
    throw toJournalError(error, path);
  }
}

function prepareDatabase(database: DatabaseSync, path: string): void {
  // The lock is the system's and ends with the process, however that ends.
  database.exec("PRAGMA locking_mode = EXCLUSIVE");
  const isNew = isEmpty(database);
  if (isNew) database.exec(`PRAGMA page_size = ${pageSize}`);
  else checkDatabase(database, path);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  // Moving the pages of the log into the file holds up the answers: each 16 MB that is not often,
  // and not for long (benchmark: triage).
  database.exec("PRAGMA wal_autocheckpoint = 2000; BEGIN IMMEDIATE");
  if (isNew) database.exec(journalTables);
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

function checkDatabase(database: DatabaseSync, path: string): void {
  if (readPragma(database, "application_id") !== applicationId) {
    throw new TriageError(plainMessage`${path} is not a journal of this program; move it away.`);
  }
  const version = readPragma(database, "user_version");
  if (version !== journalVersion) {
    const problem = plainMessage`The journal ${path} is of version ${String(version)}, not ${String(journalVersion)}.`;
    throw new TriageError(`${problem} Use the program that wrote it, or move it away.`);
  }
  if (readPragma(database, "quick_check") !== "ok") {
    throw Object.assign(new Error("quick_check"), { errcode: 11 });
  }
}

function readPragma(database: DatabaseSync, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}
