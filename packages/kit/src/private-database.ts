import process from "node:process";
import type { DatabaseSync, DatabaseSyncOptions } from "node:sqlite";
import { type FileSystem, systemFiles } from "./file-system.ts";

/** Opens a database of SQLite. */
export type OpenDatabase = (path: string, options: DatabaseSyncOptions) => DatabaseSync;

/** The default, loaded at its first use: a program with a database in PostgreSQL starts without it. */
export const openSqlite: OpenDatabase = (path, options) =>
  new (process.getBuiltinModule("node:sqlite").DatabaseSync)(path, options);

interface DatabaseParts {
  /** How long a statement waits for another process, in milliseconds. @default 0 */
  readonly timeout?: number;
  /** @default the files of this machine */
  readonly files?: FileSystem | undefined;
  /** @default a DatabaseSync */
  readonly openDatabase?: OpenDatabase | undefined;
}

/** Returns whether a database is named by the URL of a server, not by a path. */
export function isDatabaseUrl(name: string): boolean {
  return /^postgres(?:ql)?:/i.test(name);
}

/** Opens a database that only its owner can read, also if others could before, and prepares it. */
export function openPrivateDatabase(
  databasePath: string,
  prepareDatabase: (database: DatabaseSync) => void,
  { timeout = 0, files = systemFiles, openDatabase = openSqlite }: DatabaseParts = {},
): DatabaseSync {
  if (files.stat(databasePath) === undefined) files.close(files.open(databasePath, "a", 0o600));
  // SQLite creates the other files with the rights of the first.
  for (const databaseFile of [databasePath, `${databasePath}-wal`, `${databasePath}-shm`]) {
    try {
      files.chmod(databaseFile, 0o600);
    } catch {} // Some disks have no rights.
  }
  return closedOnError(openDatabase(databasePath, { timeout }), prepareDatabase);
}

/** Prepares a database, and closes it if that fails. */
export function closedOnError(
  database: DatabaseSync,
  prepareDatabase: (database: DatabaseSync) => void,
): DatabaseSync {
  try {
    prepareDatabase(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
