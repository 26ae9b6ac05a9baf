import { chmodSync, closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { CliError, printable } from "evaluator-kit";
import type { ActEntry, BegunAct, EndedAct } from "./act-states.ts";

/** Returns the path of the journal of a plan. */
export function toJournalPath(planPath: string): string {
  return `${planPath.replace(/\.ndjson$/, "")}.done.sqlite`;
}

/** What `apply` and `undo` did with a plan: a row before each command on a mail, and one after it. */
export class ActJournal implements Disposable {
  readonly #database: DatabaseSync;

  /** @throws CliError if another process has it, or the file is not such a journal. */
  constructor(planPath: string) {
    const path = toJournalPath(planPath);
    try {
      closeSync(openSync(path, "a", 0o600));
      chmodSync(path, 0o600);
      this.#database = new DatabaseSync(path);
      // In this mode the lock lasts until the file is closed.
      this.#database.exec(`PRAGMA synchronous = FULL; PRAGMA locking_mode = EXCLUSIVE;
        BEGIN EXCLUSIVE;
        CREATE TABLE IF NOT EXISTS before (row INTEGER PRIMARY KEY, begun TEXT NOT NULL) STRICT;
        CREATE TABLE IF NOT EXISTS after (row INTEGER PRIMARY KEY, ended TEXT NOT NULL) STRICT;
        COMMIT`);
    } catch (cause) {
      const problem = printable`${path} is in use, or cannot be written as a journal of "apply"`;
      throw new CliError(`${problem}. Wait for the other process, or move it away.`, { cause });
    }
  }

  /** Returns the rows of all commands, in order. */
  entries(): ActEntry[] {
    return this.#all("SELECT * FROM before LEFT JOIN after USING (row) ORDER BY row");
  }

  /** Writes the rows before a command. */
  begin(acts: readonly BegunAct[]): ActEntry[] {
    const insert = "INSERT INTO before (begun) SELECT value FROM json_each(?) RETURNING *";
    return this.#all(insert, JSON.stringify(acts));
  }

  /** Writes the rows after a command. */
  end(entries: readonly ActEntry[]): void {
    const values = "SELECT value ->> 'row', value -> 'ended' FROM json_each(?)";
    this.#all(`INSERT INTO after ${values}`, JSON.stringify(entries));
  }

  #all(sql: string, ...values: string[]): ActEntry[] {
    const rows = this.#database.prepare(sql).all(...values);
    return rows.map(({ row, begun, ended = null }) => ({
      row: Number(row),
      begun: JSON.parse(String(begun)) as BegunAct,
      ended: JSON.parse(String(ended)) as EndedAct | null,
    }));
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
