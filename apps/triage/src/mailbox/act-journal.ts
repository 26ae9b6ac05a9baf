import { existsSync } from "node:fs";
import { CliError, openPrivateDatabase, printable } from "evaluator-kit";
import type { ActEntry, BegunAct } from "./act-states.ts";

/** Returns the path of the journal of a plan. */
export function toJournalPath(planPath: string): string {
  return `${planPath.replace(/\.ndjson$/, "")}.done.sqlite`;
}

/**
 * Opens the journal of a plan, for one process: a row before each command on a mail, and one after it. The
 * file is made before the first command, so that a refused plan leaves none.
 *
 * @throws CliError if another process has it, or the file is not such a journal.
 */
export function openActJournal(planPath: string) {
  const journalPath = toJournalPath(planPath);
  let database = existsSync(journalPath) ? openDatabase(journalPath) : null;
  return {
    entries: () => (database === null ? [] : listEntries(database)),
    begin: (begunActs: readonly BegunAct[]) => {
      if (begunActs.length === 0) return [];
      database ??= makeDatabase(journalPath);
      return database.prepare(insertBefore).all(JSON.stringify(begunActs)).map(toEntry);
    },
    end: (entries: readonly ActEntry[]) =>
      void database?.prepare(insertAfter).run(JSON.stringify(entries)),
    [Symbol.dispose]: () => database?.close(),
  };
}

const selectEntries = "SELECT * FROM before LEFT JOIN after USING (row) ORDER BY row";
const insertBefore = "INSERT INTO before (begun) SELECT value FROM json_each(?) RETURNING *";
const insertAfter = "INSERT INTO after SELECT value ->> 'row', value -> 'ended' FROM json_each(?)";

// In this mode the lock lasts until the file is closed.
const createTables = `PRAGMA synchronous = FULL; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;
CREATE TABLE IF NOT EXISTS before (row INTEGER PRIMARY KEY, begun TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS after (row INTEGER PRIMARY KEY, ended TEXT NOT NULL) STRICT;
COMMIT`;

function openDatabase(journalPath: string) {
  try {
    return openPrivateDatabase(journalPath, (database) => database.exec(createTables));
  } catch (cause) {
    const problem = printable`${journalPath} is in use, or no journal of "apply"`;
    throw new CliError(`${problem}. Wait for the other process, or move the file.`, { cause });
  }
}

/** @throws CliError if another process applied the plan meanwhile: the acts were chosen without its rows. */
function makeDatabase(journalPath: string) {
  const database = openDatabase(journalPath);
  if (listEntries(database).length === 0) return database;
  database.close();
  throw new CliError(printable`Another process wrote ${journalPath}. Run the command again.`);
}

function listEntries(database: ReturnType<typeof openDatabase>): ActEntry[] {
  return database.prepare(selectEntries).all().map(toEntry);
}

function toEntry({
  row,
  begun: begunValue,
  ended: endedValue = null,
}: Record<string, unknown>): ActEntry {
  const begunAndEnded = JSON.parse(`[${String(begunValue)}, ${String(endedValue)}]`) as [
    BegunAct,
    ActEntry["ended"],
  ];
  return { row: Number(row), begun: begunAndEnded[0], ended: begunAndEnded[1] };
}
