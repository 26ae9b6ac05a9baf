import { CliError, openPrivateDatabase, printable } from "evaluator-kit";
import type { ActEntry, BegunAct } from "./act-states.ts";

/** Returns the path of the journal of a plan. */
export function toJournalPath(planPath: string): string {
  return `${planPath.replace(/\.ndjson$/, "")}.done.sqlite`;
}

/**
 * Opens the journal of a plan, for one process: a row before each command on a mail, and one after it.
 *
 * @throws CliError if another process has it, or the file is not such a journal.
 */
export function openActJournal(planPath: string) {
  const database = openDatabase(toJournalPath(planPath));
  return {
    entries: () => database.prepare(select).all().map(toEntry),
    begin: (acts: readonly BegunAct[]) =>
      database.prepare(insertBefore).all(JSON.stringify(acts)).map(toEntry),
    end: (entries: readonly ActEntry[]) =>
      void database.prepare(insertAfter).run(JSON.stringify(entries)),
    [Symbol.dispose]: () => database.close(),
  };
}

const select = "SELECT * FROM before LEFT JOIN after USING (row) ORDER BY row";
const insertBefore = "INSERT INTO before (begun) SELECT value FROM json_each(?) RETURNING *";
const insertAfter = "INSERT INTO after SELECT value ->> 'row', value -> 'ended' FROM json_each(?)";

// In this mode the lock lasts until the file is closed.
const tables = `PRAGMA synchronous = FULL; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;
CREATE TABLE IF NOT EXISTS before (row INTEGER PRIMARY KEY, begun TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS after (row INTEGER PRIMARY KEY, ended TEXT NOT NULL) STRICT;
COMMIT`;

function openDatabase(path: string) {
  try {
    return openPrivateDatabase(path, (database) => database.exec(tables));
  } catch (cause) {
    const problem = printable`${path} is in use, or cannot be written as a journal of "apply"`;
    throw new CliError(`${problem}. Wait for the other process, or move it away.`, { cause });
  }
}

function toEntry({
  row,
  begun: begunValue,
  ended: endedValue = null,
}: Record<string, unknown>): ActEntry {
  const both = JSON.parse(`[${String(begunValue)}, ${String(endedValue)}]`) as [
    BegunAct,
    ActEntry["ended"],
  ];
  return { row: Number(row), begun: both[0], ended: both[1] };
}
