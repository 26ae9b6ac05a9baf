import { resolve } from "node:path";
import type { ImportCommand } from "../arguments/import-arguments.ts";
import { TriageError } from "../errors.ts";
import { toFileError } from "../file-error.ts";
import type { Mail } from "../input/mail.ts";
import { printCount } from "../money/print-amounts.ts";
import { checkOutput } from "../output/check-output.ts";
import { toJsonArray } from "../output/to-json-array.ts";
import { writeWholeFile } from "../output/write-whole-file.ts";
import type { Surroundings } from "../surroundings.ts";
import { plainText } from "../text/plain-text.ts";
import type { FoundMail } from "./found-mail.ts";
import { isOnlySent } from "./is-only-sent.ts";
import { SeenIds } from "./seen-ids.ts";
import { openSource } from "./sources/open-source.ts";
import { toMail } from "./to-mail.ts";

const NAMED = 10;

interface ImportCounts {
  kept: number;
  sent: number;
  broken: number;
  /** The first broken mails, by place and reason. */
  readonly named: string[];
}

/**
 * Makes an input file from an export, mail by mail; broken mails are counted and named. Gives the
 * exit code, 0 or 2.
 *
 * @throws TriageError when the export cannot be read or the file cannot be written.
 */
export async function importMails(
  { source, output }: ImportCommand,
  { cwd, stderr, signal }: Surroundings,
): Promise<number> {
  const [sourcePath, outputPath] = [resolve(cwd, source), resolve(cwd, output)];
  const counts: ImportCounts = { kept: 0, sent: 0, broken: 0, named: [] };
  try {
    const found = await openSource(sourcePath);
    await checkOutput(outputPath, sourcePath);
    await writeWholeFile(outputPath, toJsonArray(readAll(found, { counts, signal })));
  } catch (error) {
    throw toImportError(error, sourcePath, signal);
  }
  stderr.write(describe(counts, outputPath));
  return counts.broken > 0 ? 2 : 0;
}

async function* readAll(
  found: AsyncIterable<FoundMail>,
  { counts, signal }: { counts: ImportCounts; signal: AbortSignal },
): AsyncGenerator<Mail> {
  using ids = new SeenIds();
  for await (const mail of found) {
    signal.throwIfAborted();
    const record = await readOne(mail, counts);
    if (record === null) continue;
    counts.kept += 1;
    yield { ...record, id: ids.unique(record.id) };
  }
}

async function readOne({ place, read }: FoundMail, counts: ImportCounts): Promise<Mail | null> {
  try {
    const mail = await read();
    if (!isOnlySent(mail.labels)) return toMail(mail);
    counts.sent += 1;
  } catch (error) {
    counts.broken += 1;
    if (counts.named.length < NAMED) counts.named.push(`${place}: ${reasonOf(error)}`);
  }
  return null;
}

// A parser's own message may quote the mail.
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : "";
  return message.startsWith("it ") ? message : "it cannot be read";
}

function describe({ kept, sent, broken, named }: ImportCounts, outputPath: string): string {
  const lines = named.map((name) => `Broken: ${plainText(name)}\n`);
  if (broken > named.length) lines.push(`Broken: ${printCount(broken - named.length)} more\n`);
  const left = `left out ${printCount(sent)} with only the sent label and ${printCount(broken)} broken`;
  return `${lines.join("")}Wrote ${printCount(kept)} records to ${outputPath}; ${left}.\n`;
}

function toImportError(error: unknown, path: string, signal: AbortSignal): unknown {
  if (error instanceof TriageError || signal.aborted || !(error instanceof Error)) return error;
  // Cut archives and broken JSON: nothing after such a place can be found.
  const isUnreadable = !("syscall" in error);
  if (isUnreadable)
    return new TriageError(`${path} cannot be read to its end; nothing was written.`);
  return toFileError(error, `import ${path}`, "Check the path and the room on the disk.");
}
