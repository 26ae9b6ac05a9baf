import { existsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { CliError, printable } from "evaluator-kit";
import { JournalReader } from "./journal-reader.ts";
import { refusalsTable } from "./journal-schema.ts";
import {
  BUSY_TIMEOUT_MS,
  checkDamage,
  checkVersion,
  closedOnError,
  isEmpty,
  toJournalError,
} from "./open-journal.ts";

/**
 * Reads a journal without changing it, also while a run is under way; calls `read` again if a run
 * wrote into the file meanwhile.
 *
 * @param isChecked - Whether damage is looked for first, which takes time in proportion to the size.
 * @throws CliError if the path has no journal, or it cannot be used.
 */
export async function readJournal<TResult>(
  path: string,
  read: (journal: JournalReader) => TResult | Promise<TResult>,
  isChecked = true,
): Promise<TResult> {
  if (!existsSync(path)) {
    const problem = printable`There is no journal at ${path}`;
    throw new CliError(`${problem}; start a run about its input first.`);
  }
  for (;;) {
    const writtenAt = lastWrite(path);
    const [outcome] = await Promise.allSettled([readOnce(path, read, isChecked)]);
    if (writtenAt !== lastWrite(path)) continue;
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  }
}

async function readOnce<TResult>(
  path: string,
  read: (journal: JournalReader) => TResult | Promise<TResult>,
  isChecked: boolean,
): Promise<TResult> {
  using database = openForReading(path, isChecked);
  database.exec("BEGIN"); // one moment, also while a run writes
  return await read(new JournalReader(path, database));
}

// With a log, SQLite isolates readers from the run; without one nothing does.
function lastWrite(path: string): string {
  if (hasLog(path)) return "log";
  const { mtimeNs, size } = statSync(path, { bigint: true });
  return `${mtimeNs} ${size}`;
}

function hasLog(path: string): boolean {
  return existsSync(`${path}-wal`);
}

/**
 * Opens a journal for reading; changes nothing.
 *
 * @throws CliError if it is missing, damaged, or of another version or program.
 */
export function openForReading(path: string, isChecked = true, takesOlder = false): DatabaseSync {
  const url = pathToFileURL(path);
  // Without a log no process writes, and SQLite would create a log for reading.
  if (!hasLog(path)) url.searchParams.set("immutable", "1");
  try {
    const database = new DatabaseSync(url, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    return closedOnError(database, () => {
      if (isEmpty(database)) {
        const problem = printable`${path} is not a journal yet: there is nothing in it`;
        throw new CliError(`${problem}; start a run about its input first.`);
      }
      if (checkVersion(database, path) === "before" && !takesOlder) {
        const problem = printable`${path} is of an older version`;
        throw new CliError(
          `${problem}; start the run again, which brings it up to date and asks nothing twice.`,
        );
      }
      if (isChecked) checkDamage(database);
      const find = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'refusals'");
      if (find.get() === undefined) database.exec(`CREATE TEMP TABLE ${refusalsTable}`);
    });
  } catch (error) {
    throw toJournalError(error, path);
  }
}
