import process from "node:process";
import type { DatabaseSync, DatabaseSyncOptions } from "node:sqlite";
import type { EvaluatorRuntime } from "evaluator-client";
import { type FileSystem, systemFiles } from "evaluator-kit";

/** The parts of the machine that runs use, beside those of an evaluator; tests pass their own. */
export interface Machine extends EvaluatorRuntime {
  /** @default the files of this machine */
  readonly files?: FileSystem | undefined;
  /** Opens a database of SQLite. @default a DatabaseSync */
  readonly openDatabase?: OpenDatabase | undefined;
  /** Calls back when the calls that end now have ended. @default setImmediate */
  readonly defer?: ((callback: () => void) => void) | undefined;
}

type OpenDatabase = (path: string, options: DatabaseSyncOptions) => DatabaseSync;

/** Returns the parts that a journal is kept with. */
export function journalMachine({
  files = systemFiles,
  openDatabase = openSqlite,
  defer = setImmediate,
}: Machine) {
  return { files, openDatabase, defer };
}

// Loaded at the first use: workers of a database in PostgreSQL start without it.
const openSqlite: OpenDatabase = (path, options) =>
  new (process.getBuiltinModule("node:sqlite").DatabaseSync)(path, options);

/** Returns the parts that an evaluator takes. */
export function evaluatorRuntime({ clock, random, newId }: EvaluatorRuntime): EvaluatorRuntime {
  return { ...(clock && { clock }), ...(random && { random }), ...(newId && { newId }) };
}
