import { chmodSync, closeSync, existsSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** Opens a database that only its owner can read, also if others could before, and prepares it. */
export function openPrivateDatabase(
  path: string,
  prepare: (database: DatabaseSync) => void,
  timeout = 0,
): DatabaseSync {
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
  // SQLite creates the other files with the rights of the first.
  for (const file of [path, `${path}-wal`, `${path}-shm`]) makePrivate(file);
  return closedOnError(new DatabaseSync(path, { timeout }), prepare);
}

// Some disks have no rights.
function makePrivate(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch {}
}

/** Prepares a database, and closes it if that fails. */
export function closedOnError(
  database: DatabaseSync,
  prepare: (database: DatabaseSync) => void,
): DatabaseSync {
  try {
    prepare(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
