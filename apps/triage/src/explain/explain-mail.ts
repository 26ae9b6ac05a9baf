import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { ExplainCommand } from "../arguments/explain-arguments.ts";
import { UsageError } from "../errors.ts";
import { toFileError } from "../file-error.ts";
import { toJournalPath } from "../journal/journal-path.ts";
import { readJournal } from "../journal/journal-reader.ts";
import type { Surroundings } from "../surroundings.ts";
import { describeEntry } from "./describe-entry.ts";

/**
 * Prints all that the journal knows of one mail.
 *
 * @throws TriageError when that is nothing.
 */
export async function explainMail(
  { id, file }: ExplainCommand,
  { cwd, stdout }: Surroundings,
): Promise<number> {
  const path = file === null ? await findJournal(cwd) : toJournalPath(resolve(cwd, file));
  stdout.write(await readJournal(path, (journal) => describeEntry(journal.find(id))));
  return 0;
}

async function findJournal(folder: string): Promise<string> {
  const all = await readdir(folder).catch((error: unknown) => {
    throw toFileError(error, `read ${folder}`, "Name the FILE after the ID.");
  });
  const names = all.filter((name) => name.endsWith(".triage.sqlite"));
  const [name, ...others] = names;
  if (name !== undefined && others.length === 0) return join(folder, name);
  throw new UsageError(`${names.length} journals are in this folder; name the FILE after the ID`);
}
