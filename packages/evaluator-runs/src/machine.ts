import type { EvaluatorRuntime } from "evaluator-client";
import { type FileSystem, type OpenDatabase, openSqlite, systemFiles } from "evaluator-kit";

/** The parts of the machine that runs use, beside those of an evaluator; tests pass their own. */
export interface Machine extends EvaluatorRuntime {
  /** @default the files of this machine */
  readonly files?: FileSystem | undefined;
  /** Opens a database of SQLite. @default a DatabaseSync */
  readonly openDatabase?: OpenDatabase | undefined;
  /** Calls back when the calls that end now have ended. @default setImmediate */
  readonly defer?: ((callback: () => void) => void) | undefined;
}

/** Returns the parts that a journal is kept with. */
export function journalMachine({
  files = systemFiles,
  openDatabase = openSqlite,
  defer = setImmediate,
}: Machine) {
  return { files, openDatabase, defer };
}

/** Returns the parts that an evaluator takes. */
export function evaluatorRuntime({ clock, random, newId }: EvaluatorRuntime): EvaluatorRuntime {
  return { ...(clock && { clock }), ...(random && { random }), ...(newId && { newId }) };
}
