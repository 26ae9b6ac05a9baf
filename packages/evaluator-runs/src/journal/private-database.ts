import type { DatabaseSync } from "node:sqlite";
import { journalMachine, type Machine } from "../machine.ts";

/** Opens a database that only its owner can read, also if others could before, and prepares it. */
export function openPrivateDatabase(
  path: string,
  prepare: (database: DatabaseSync) => void,
  { timeout = 0, ...machine }: Machine & { readonly timeout?: number } = {},
): DatabaseSync {
  const { files, openDatabase } = journalMachine(machine);
  if (files.stat(path) === undefined) files.close(files.open(path, "a", 0o600));
  // SQLite creates the other files with the rights of the first.
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      files.chmod(file, 0o600);
    } catch {} // Some disks have no rights.
  }
  return closedOnError(openDatabase(path, { timeout }), prepare);
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
