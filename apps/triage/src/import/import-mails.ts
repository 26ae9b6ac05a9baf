import { resolve } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { type CliContext, CliError, printable, toFileError, UsageError } from "evaluator-kit";
import { checkOutput, toJsonArray, toOutputPath, writeMailFile } from "evaluator-runs/source";
import type { Mail } from "../input/mail-schema.ts";
import type { ImportCommand } from "../options.ts";
import { type FoundMail, ImportProblem } from "./found-mail.ts";
import { ImportCounts } from "./import-counts.ts";
import { readSource } from "./read-source.ts";
import { type IsOnlySent, onlySentRule, sentLabels } from "./sent-labels.ts";
import { toMail } from "./to-mail.ts";

const ADVICE = "Check the path and the room on the disk.";

interface ImportOptions {
  readonly counts: ImportCounts;
  readonly isOnlySent: IsOnlySent;
  readonly signal: AbortSignal;
}

/**
 * Makes an input file from an export, mail by mail; what cannot be read is counted and named.
 * Returns the exit code, 0 or 2.
 *
 * @throws CliError when no mail is found or the file cannot be written; nothing is written then.
 */
export async function importMails(
  command: ImportCommand,
  { cwd, stderr, signal }: CliContext,
): Promise<number> {
  if (command.skipped === command.output) {
    throw new UsageError("--skipped takes a file of its own.");
  }
  const sourcePath = resolve(cwd, command.source);
  toOutputPath(command.output); // a file of this name could not be triaged later
  const outputPath = resolve(cwd, command.output);
  const skippedPath = command.skipped === undefined ? null : resolve(cwd, command.skipped);
  const counts = new ImportCounts(skippedPath !== null);
  const isOnlySent = onlySentRule([...sentLabels, ...(command.sentLabel ?? [])]);
  try {
    await checkOutput(outputPath, sourcePath);
    if (skippedPath !== null) await checkOutput(skippedPath, sourcePath);
    const mails = readMails(sourcePath, { counts, isOnlySent, signal });
    await writeMailFile(outputPath, toJsonArray(mails)).finally(async () => {
      if (skippedPath !== null && !signal.aborted)
        await writeMailFile(skippedPath, counts.skipped());
    });
  } catch (error) {
    if (error instanceof NothingFound) throw nothingFound(sourcePath, counts);
    throw toFileError(error, `import ${sourcePath}`, ADVICE);
  }
  stderr.write(counts.describe(outputPath));
  return counts.broken > 0 ? 2 : 0;
}

class NothingFound extends Error {}

function nothingFound(sourcePath: string, counts: ImportCounts): CliError {
  const problem = printable`No mail was found in ${sourcePath}; nothing was written.`;
  return new CliError(
    `${counts.describeNotRead()}${problem} Give an mbox, a folder of mail files, an archive of these from Takeout, or a Gmail API dump.`,
  );
}

async function* readMails(sourcePath: string, options: ImportOptions): AsyncGenerator<Mail> {
  const { counts, signal } = options;
  using ids = new SeenIds();
  for await (const found of readSource(sourcePath, signal)) {
    signal.throwIfAborted();
    if ("reason" in found) counts.add(found);
    else {
      const record = await readOne(found, options);
      if (record !== null) yield { ...record, id: ids.unique(record.id) };
    }
  }
  if (counts.kept + counts.sent === 0) throw new NothingFound();
}

/** Makes ids unique, in a temporary file: a mailbox has more of them than memory should hold. */
export class SeenIds implements Disposable {
  readonly #database = new DatabaseSync("");
  readonly #count: StatementSync;

  constructor() {
    this.#database.exec("CREATE TABLE seen (id TEXT PRIMARY KEY, count INTEGER) WITHOUT ROWID");
    this.#count = this.#database.prepare(
      "INSERT INTO seen VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1 RETURNING count",
    );
  }

  /** Returns the id itself the first time, and `id#2`, `id#3` after it. */
  unique(id: string): string {
    const { count } = this.#count.get(id) as { count: number };
    return count === 1 ? id : this.unique(`${id}#${count}`);
  }

  /** Lets go of the file. */
  [Symbol.dispose](): void {
    this.#database.close();
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
    const record = toMail(mail, found);
    counts.kept += 1;
    counts.bases[(mail.date ?? found.arrived).basis] += 1;
    if (found.isCut) counts.cut += 1;
    return record;
  } catch (error) {
    // A parser's own message may quote the mail.
    const reason = error instanceof ImportProblem ? error.message : "it cannot be read";
    counts.add({ name: found.name, reason, isMail: true });
    return null;
  }
}
