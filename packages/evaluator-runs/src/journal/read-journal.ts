import { existsSync, statSync } from "node:fs";
import { CliError, printable } from "evaluator-kit";
import { JournalReader } from "./journal-reader.ts";
import { hasLog, openForReading, type ReadingOptions } from "./open-journal.ts";

/**
 * Reads a journal, also while a run is under way, and changes nothing.
 *
 * @param read - Called again when a run wrote into the file meanwhile.
 * @throws CliError when there is no journal at the path, or it cannot be used.
 */
export async function readJournal<TResult>(
  path: string,
  read: (journal: JournalReader) => TResult | Promise<TResult>,
  options: ReadingOptions = {},
): Promise<TResult> {
  if (!existsSync(path)) {
    const problem = printable`There is no journal at ${path}`;
    throw new CliError(`${problem}; run triage on its file first.`);
  }
  const writtenAt = lastWrite(path);
  const outcome = await readOnce(path, read, options).then(
    (result) => () => result,
    (error: unknown) => () => {
      throw error;
    },
  );
  return writtenAt === lastWrite(path) ? outcome() : await readJournal(path, read, options);
}

// With a log SQLite keeps readers and the run apart; without one nobody does.
function lastWrite(path: string): string {
  if (hasLog(path)) return "log";
  const { mtimeNs, size } = statSync(path, { bigint: true });
  return `${mtimeNs} ${size}`;
}

async function readOnce<TResult>(
  path: string,
  read: (journal: JournalReader) => TResult | Promise<TResult>,
  options: ReadingOptions,
): Promise<TResult> {
  const database = openForReading(path, options);
  try {
    database.exec("BEGIN"); // all that is read is of one moment, also while a run writes
    return await read(new JournalReader(path, database));
  } finally {
    database.close();
  }
}
