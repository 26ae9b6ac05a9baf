import { hash } from "node:crypto";
import { stat } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import type { Basis } from "evaluator-calibration";
import type { Questions } from "evaluator-client";
import { CliError, printable } from "evaluator-kit";
import { isDatabase } from "../read-files.ts";

/** An engine's answers about one record: the probabilities in the order of the question. */
export interface KeptEvaluation {
  readonly answers: Readonly<Record<string, readonly number[]>>;
  readonly modelId: string | null;
  readonly basis: Basis | null;
  /** Whether readings disagreed about the winner; null with one reading. */
  readonly flips: Readonly<Record<string, boolean>> | null;
  readonly costUsd: number | null;
  readonly ms: number;
}

type State = string | object;

/** The result of one call: answers, or a final failure. */
type Outcome = { readonly evaluation: KeptEvaluation } | { readonly failure: string };

// "EVCP", the mark of such a file.
const APPLICATION_ID = 0x45564350;
const VERSION = 1;

const schema = `
CREATE TABLE outcomes (
  engine TEXT NOT NULL, call TEXT NOT NULL, evaluation TEXT, failure TEXT,
  PRIMARY KEY (engine, call)
) STRICT, WITHOUT ROWID;
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${VERSION};`;

/** The paid answers; each is on the disk before the next is counted. */
export class AnswerStore implements Disposable {
  readonly #database: DatabaseSync;
  readonly #path: string;
  /** JSON of the questions of all calls. */
  readonly #questions: string;

  private constructor(database: DatabaseSync, path: string, questions: Questions) {
    this.#database = database;
    this.#path = path;
    this.#questions = JSON.stringify(Object.entries(questions));
  }

  /** Opens or creates the file. @throws CliError if it is another program's, or in use. */
  static async open(path: string, questions: Questions): Promise<AnswerStore> {
    // SQLite accepts an empty file, as a run leaves that was killed at its start.
    const size = (await stat(path).catch(() => null))?.size ?? 0;
    if (size > 0 && !(await isDatabase(path))) throw notOurs(path);
    let database: DatabaseSync | null = null;
    try {
      database = new DatabaseSync(path);
      // Held until the end: two runs at once would pay for the same answers.
      database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
      prepare(database, path);
      // An answer takes one fsync; with a rollback journal it takes four (strace).
      database.exec("COMMIT; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
      return new AnswerStore(database, path, questions);
    } catch (error) {
      database?.close();
      throw toStoreError(error, path);
    }
  }

  /** Returns the result of the call about a state, or null. */
  find(engine: string, state: State): Outcome | null {
    const query = "SELECT evaluation, failure FROM outcomes WHERE engine = ? AND call = ?";
    const row = this.#database.prepare(query).get(engine, this.#callOf(state));
    if (row === undefined) return null;
    if (row["evaluation"] === null) return { failure: String(row["failure"]) };
    return { evaluation: JSON.parse(String(row["evaluation"])) as KeptEvaluation };
  }

  /** Writes the result of the call about a state. @throws CliError if it cannot be written. */
  keep(engine: string, state: State, outcome: Outcome): void {
    const isAnswered = "evaluation" in outcome;
    const values = isAnswered
      ? [JSON.stringify(outcome.evaluation), null]
      : [null, outcome.failure];
    try {
      const statement = "INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?)";
      this.#database.prepare(statement).run(engine, this.#callOf(state), ...values);
    } catch (error) {
      throw toStoreError(error, this.#path);
    }
  }

  /** Returns the key of a call: a hash of the state and the questions. */
  #callOf(state: State): string {
    return hash("sha256", `[${this.#questions},${JSON.stringify(state)}]`, "base64url");
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

function toStoreError(error: unknown, path: string): unknown {
  if (!(error instanceof Error && "errcode" in error)) return error;
  const isBusy = error.errcode === 5;
  const what = isBusy
    ? printable`Another run is writing ${path}. Wait for its end,`
    : printable`${path} cannot be used: ${error.message}. Make room or remove it,`;
  return new CliError(`${what} or choose another folder with --out.`, { cause: error });
}

function prepare(database: DatabaseSync, path: string): void {
  const pragma = (key: string) => Object.values(database.prepare(`PRAGMA ${key}`).get() ?? {})[0];
  const tables = database.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.["n"];
  if (tables === 0) database.exec(schema);
  else if (pragma("application_id") !== APPLICATION_ID) throw notOurs(path);
  else if (pragma("user_version") !== VERSION) {
    throw unusable(printable`${path} was written by another release of this program.`);
  }
}

function notOurs(path: string): CliError {
  return unusable(printable`${path} is no file of kept answers.`);
}

function unusable(problem: string): CliError {
  return new CliError(`${problem} Choose another folder with --out.`);
}
