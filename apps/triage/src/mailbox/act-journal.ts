import { chmodSync, closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { CliError, printable } from "evaluator-kit";
import { lockBeside } from "evaluator-runs/source";
import type { ActEntry, BegunAct, EndedAct } from "./act-states.ts";

/** Returns the path of the journal of a plan. */
export function toJournalPath(planPath: string): string {
  return `${planPath.replace(/\.ndjson$/, "")}.done.sqlite`;
}

/** What `apply` and `undo` did with a plan: a row before each command and mail, and a row after it. */
export class ActJournal implements Disposable {
  readonly #database: DatabaseSync;
  readonly #unlock: () => void;

  /** @throws CliError if another process has it, or the file is not such a journal. */
  constructor(planPath: string) {
    const path = toJournalPath(planPath);
    const taken = printable`Another process applies or undoes ${planPath}; wait for its end.`;
    this.#unlock = lockBeside(path, { taken, advice: "Check the rights of its folder." });
    try {
      closeSync(openSync(path, "a", 0o600));
      chmodSync(path, 0o600);
      this.#database = new DatabaseSync(path);
      this.#database.exec(`PRAGMA synchronous = FULL;
        CREATE TABLE IF NOT EXISTS before (row INTEGER PRIMARY KEY, begun TEXT NOT NULL) STRICT;
        CREATE TABLE IF NOT EXISTS after (row INTEGER PRIMARY KEY, ended TEXT NOT NULL) STRICT`);
    } catch (cause) {
      this.#unlock();
      const problem = printable`${path} cannot be written as a journal of "apply"`;
      throw new CliError(`${problem}. Check its rights, or move it away.`, { cause });
    }
  }

  /** Returns the rows of all commands, in order. */
  entries(): ActEntry[] {
    const select = "SELECT * FROM before LEFT JOIN after USING (row) ORDER BY row";
    return this.#database.prepare(select).all().map(toEntry);
  }

  /** Writes the rows before a command. */
  begin(acts: readonly BegunAct[]): ActEntry[] {
    const insert = this.#database.prepare("INSERT INTO before (begun) VALUES (?)");
    const rows = this.#writeAll(acts, (begun) => insert.run(JSON.stringify(begun)));
    return acts.map((begun, at) => ({
      row: Number(rows[at]?.lastInsertRowid),
      begun,
      ended: null,
    }));
  }

  /** Writes the rows after a command. */
  end(entries: readonly ActEntry[]): void {
    const insert = this.#database.prepare("INSERT INTO after VALUES (?, ?)");
    this.#writeAll(entries, ({ row, ended }) => insert.run(row, JSON.stringify(ended)));
  }

  #writeAll<T, TResult>(items: readonly T[], write: (item: T) => TResult): TResult[] {
    this.#database.exec("BEGIN IMMEDIATE");
    const results = items.map(write);
    this.#database.exec("COMMIT");
    return results;
  }

  [Symbol.dispose](): void {
    this.#database.close();
    this.#unlock();
  }
}

function toEntry({ row, begun, ended }: Record<string, unknown>): ActEntry {
  return {
    row: Number(row),
    begun: JSON.parse(String(begun)) as BegunAct,
    ended: JSON.parse(String(ended)) as EndedAct | null,
  };
}
