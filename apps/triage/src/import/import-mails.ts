import { resolve } from "node:path";
import type { ImportCommand } from "../arguments/import-arguments.ts";
import { TriageError } from "../errors.ts";
import { toFileError } from "../file-error.ts";
import type { Mail } from "../input/mail.ts";
import { checkOutput } from "../output/check-output.ts";
import { toJsonArray } from "../output/to-json-array.ts";
import { writeWholeFile } from "../output/write-whole-file.ts";
import type { Surroundings } from "../surroundings.ts";
import { plainMessage } from "../text/plain-message.ts";
import type { FoundMail } from "./found-mail.ts";
import { ImportCounts } from "./import-counts.ts";
import { type IsOnlySent, onlySentRule } from "./is-only-sent.ts";
import { SeenIds } from "./seen-ids.ts";
import { sentLabels } from "./sent-labels.ts";
import { openSource } from "./sources/open-source.ts";
import { toMail } from "./to-mail.ts";

interface ImportOptions {
  readonly counts: ImportCounts;
  readonly isOnlySent: IsOnlySent;
  readonly signal: AbortSignal;
}

/**
 * Makes an input file from an export, mail by mail; what is broken is counted and named. Gives the
 * exit code, 0 or 2.
 *
 * @throws TriageError when nothing of the export can be read or the file cannot be written.
 */
export async function importMails(
  command: ImportCommand,
  { cwd, stderr, signal }: Surroundings,
): Promise<number> {
  const sourcePath = resolve(cwd, command.source);
  const outputPath = resolve(cwd, command.output);
  const counts = new ImportCounts();
  const isOnlySent = onlySentRule([...sentLabels, ...command.sentLabels]);
  try {
    const found = await openSource(sourcePath);
    await checkOutput(outputPath, sourcePath);
    const mails = readAll(found, { counts, isOnlySent, signal });
    await writeWholeFile(outputPath, toJsonArray(mails));
  } catch (error) {
    if (isBrokenSource(error, signal)) {
      const problem = plainMessage`${sourcePath} cannot be read`;
      throw new TriageError(`${problem}; nothing was written.`, { cause: error });
    }
    throw toFileError(error, `import ${sourcePath}`, "Check the path and the room on the disk.");
  }
  stderr.write(counts.describe(outputPath));
  return counts.broken > 0 ? 2 : 0;
}

async function* readAll(
  found: AsyncIterable<FoundMail>,
  options: ImportOptions,
): AsyncGenerator<Mail> {
  const { counts, signal } = options;
  using ids = new SeenIds();
  let lastPlace = "";
  try {
    for await (const mail of found) {
      signal.throwIfAborted();
      lastPlace = mail.place;
      const record = await readOne(mail, options);
      if (record !== null) yield { ...record, id: ids.unique(record.id) };
    }
  } catch (error) {
    // What came before the place where an export breaks off is worth having.
    if (counts.kept === 0 || !isBrokenSource(error, signal)) throw error;
    counts.addBroken(`after ${lastPlace}`, "it breaks off; what follows is lost");
  }
}

async function readOne(
  found: FoundMail,
  { counts, isOnlySent }: ImportOptions,
): Promise<Mail | null> {
  try {
    const mail = await found.read();
    if (isOnlySent(mail.labels)) {
      counts.sent += 1;
      return null;
    }
    const record = toMail(mail);
    counts.kept += 1;
    if (found.isCut) counts.cut += 1;
    return record;
  } catch (error) {
    counts.addBroken(found.place, reasonOf(error));
    return null;
  }
}

// A parser's own message may quote the mail.
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : "";
  return message.startsWith("it ") ? message : "it cannot be read";
}

// Cut archives and broken JSON: nothing after such a place can be found.
function isBrokenSource(error: unknown, signal: AbortSignal): boolean {
  if (error instanceof TriageError || signal.aborted) return false;
  return error instanceof Error && !("syscall" in error);
}
