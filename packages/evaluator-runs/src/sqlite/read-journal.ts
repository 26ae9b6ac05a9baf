import { existsSync, statSync } from "node:fs";
import { printable } from "evaluator-kit";
import { JournalReader } from "./journal-reader.ts";
import { openForReading, withoutRun } from "./open-journal.ts";

/** Opens a journal as it is at this moment, and changes nothing; see {@link openForReading}. */
export function openReader(...[path, options]: Parameters<typeof openForReading>): JournalReader {
  const database = openForReading(path, options);
  database.exec("BEGIN");
  return new JournalReader(path, database);
}

/**
 * Reads a journal without changing it, also while a run is under way; calls `read` again if a run
 * wrote into the file meanwhile.
 *
 * @param isChecked - Whether damage is looked for first, which takes time in proportion to the size.
 * @throws CliError if the path has no journal, or it cannot be used.
 */
export async function readJournal<TResult>(
  journalPath: string,
  readOpened: (journal: JournalReader) => TResult | Promise<TResult>,
  isChecked = true,
): Promise<TResult> {
  if (!existsSync(journalPath)) throw withoutRun(printable`There is no journal at ${journalPath}`);
  const readOnce = async () => {
    using openedJournal = openReader(journalPath, { isChecked });
    return await readOpened(openedJournal);
  };
  for (;;) {
    const writtenAt = lastWrite(journalPath);
    const [outcome] = await Promise.allSettled([readOnce()]);
    if (writtenAt !== lastWrite(journalPath)) continue;
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  }
}

// With a log, SQLite isolates readers from the run; without one nothing does.
function lastWrite(journalPath: string): string {
  if (existsSync(`${journalPath}-wal`)) return "log";
  const { mtimeNs, size } = statSync(journalPath, { bigint: true });
  return `${mtimeNs} ${size}`;
}
