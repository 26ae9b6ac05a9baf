import { hash } from "node:crypto";
import { resolve } from "node:path";
import {
  checkOutput,
  type CliContext,
  CliError,
  createProgress,
  exitCodes,
  printable,
  toFileError,
  UsageError,
  withRest,
  writeWholeFile,
} from "evaluator-kit";
import { printCount, printCounted, toJsonArray, toOutputPath } from "evaluator-runs/source";
import { isEmptyMail } from "../input/mail.ts";
import type { Mail } from "../input/mail-schema.ts";
import { type FoundMail, ImportProblem, type NotRead } from "./found-mail.ts";
import { readSource, loadSize } from "./read-source.ts";
import { onlySentRule } from "./sent-labels.ts";
import { toMail } from "./to-mail.ts";
import { isMailFile, mailSource } from "../mail-source.ts";

interface ImportCommand {
  readonly source: string;
  readonly output: string;
  readonly sentLabel?: readonly string[] | undefined;
  readonly skipped?: string | undefined;
}

interface ImportOptions {
  readonly counts: ImportCounts;
  readonly isOnlySent: ReturnType<typeof onlySentRule>;
  readonly signal: AbortSignal;
  readonly progress: ReturnType<typeof createProgress>;
}

/** Makes an input file from an export; writes nothing if no mail is found. Names unreadable parts. */
export async function importMails(command: ImportCommand, context: CliContext): Promise<number> {
  const { cwd, stderr, signal } = context;
  if (command.skipped === command.output) {
    throw new UsageError("--skipped needs its own file.");
  }
  const sourcePath = resolve(cwd, command.source);
  toOutputPath(command.output, mailSource); // a file of this name could not be triaged later
  const outputPath = resolve(cwd, command.output);
  const skippedPath = command.skipped === undefined ? null : resolve(cwd, command.skipped);
  const counts = new ImportCounts();
  const isOnlySent = onlySentRule(command.sentLabel);
  const progress = createProgress(context);
  try {
    await checkOutput(outputPath, [sourcePath], { isOwn: isMailFile });
    if (skippedPath !== null)
      await checkOutput(skippedPath, [sourcePath, outputPath], { isOwn: isNotReadList });
    const mails = readMails(sourcePath, { counts, isOnlySent, signal, progress });
    await writeWholeFile(outputPath, toJsonArray(mails)).finally(async () => {
      if (skippedPath === null || signal.aborted) return;
      await writeWholeFile(skippedPath, [...counts.broken, ...counts.noMail]);
    });
  } catch (error) {
    throw toFileError(error, `import ${sourcePath}`);
  }
  progress.end();
  stderr.write(counts.describe(outputPath));
  return counts.broken.length > 0 ? exitCodes.unanswered : exitCodes.done;
}

function isNotReadList(beginning: string): boolean {
  return /^.+: (?:it |\d+ lines? look)/.test(beginning);
}

async function* readMails(sourcePath: string, options: ImportOptions): AsyncGenerator<Mail> {
  const { counts, signal, progress } = options;
  const toUnique = uniqueIds();
  const isCopy = copies();
  const share = toShare(sourcePath);
  for await (const foundItem of readSource(sourcePath, { signal, onRead: share.onRead })) {
    signal.throwIfAborted();
    progress.show(() => `${printCounted(counts.kept, "mail")} imported${share.describe()}`);
    if ("reason" in foundItem && foundItem.gone !== undefined) counts.addGone(foundItem.gone);
    else if ("reason" in foundItem) counts.add(foundItem);
    else {
      const record = await readOne(foundItem, options);
      if (record === null) continue;
      const folder = toFolder(record);
      if (isCopy(record, folder)) counts.addGone("in another folder too");
      else {
        counts.kept += 1;
        count(counts.folders, folder);
        yield { ...record, id: toUnique(record.id) };
      }
    }
  }
  if (counts.kept + counts.sent > 0) return;
  const problem = printable`No mail was found in ${sourcePath}; nothing was written.`;
  const advice =
    "Give an mbox, a folder of mail files, an archive of these from Takeout, or a Gmail API dump.";
  throw new CliError(`${counts.describeNotRead()}${problem} ${advice}`);
}

/** Counts the bytes of a source that were read; their share is empty until the size is known. */
function toShare(sourcePath: string) {
  let [read, size] = [0, 0];
  void loadSize(sourcePath).then(
    (bytes) => (size = bytes),
    () => undefined, // a file that cannot be read is reported when it is its turn
  );
  return {
    onRead: (bytes: number) => void (read += bytes),
    describe: () => (size === 0 ? "" : ` (${Math.min(100, Math.floor((100 * read) / size))} %)`),
  };
}

/** Returns the folder of a mail in its source: an mbox, or the folder of a file. */
function toFolder({ source }: Mail): string {
  const { file = "", offset } = source ?? {};
  if (offset !== undefined || !/[/]/.test(file)) return offset === undefined ? "." : file;
  return file.replace(/(?:^|\/)(?:(?:cur|new)\/)?[^/]*$/, "") || ".";
}

/** Returns a function that checks if another folder had the same mail, by its id and content. */
function copies() {
  const folders = new Map<string, string>();
  return ({ id, from, subject, date, snippet }: Mail, folder: string): boolean => {
    const content = [id, from, subject, date, snippet].join("\n");
    const key = hash("sha256", content, "buffer").toString("latin1", 0, 12);
    const first = folders.get(key);
    if (first === undefined) folders.set(key, folder);
    return first !== undefined && first !== folder;
  };
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** Returns a line with the names that most mails have, and their counts; empty for fewer than `least`. */
function describeCounts(title: string, counts: ReadonlyMap<string, number>, least: number): string {
  if (counts.size < least) return "";
  const sortedEntries = [...counts].toSorted(([, one], [, other]) => other - one);
  const names = sortedEntries.map(([name, number]) => printable`${name} ${printCount(number)}`);
  return `${title}: ${withRest(names, 30).join(", ")}.\n`;
}

/** Returns a function that returns an id itself the first time, and `id#2`, `id#3` after it. */
function uniqueIds() {
  const counts = new Map<string, number>();
  return function toUnique(id: string): string {
    const count = (counts.get(id) ?? 0) + 1;
    counts.set(id, count);
    return count === 1 ? id : toUnique(`${id}#${count}`);
  };
}

async function readOne(foundMail: FoundMail, { counts, isOnlySent }: ImportOptions) {
  try {
    const mail = await foundMail.read();
    for (const label of mail.labels ?? []) count(counts.labels, label);
    if (isOnlySent(mail.labels)) {
      counts.sent += 1;
      return null;
    }
    if (mail.gone) {
      counts.addGone(mail.gone);
      return null;
    }
    const record = toMail(mail, foundMail);
    if (isEmptyMail(record)) throw new ImportProblem("it has no sender, no subject and no text");
    return record;
  } catch (error) {
    // A parser's own message may quote the mail.
    const reason = error instanceof ImportProblem ? error.message : "it cannot be read";
    counts.add({ name: foundMail.name, reason, isMail: true });
    return null;
  }
}

const NAMED = 10;

class ImportCounts {
  kept = 0;
  /** Mails with only a sent label, which are left out. */
  sent = 0;
  /** The mails of each folder that are kept, and of each label. */
  readonly folders = new Map<string, number>();
  readonly labels = new Map<string, number>();
  /** Mails that are no longer in their folder, by the reason. */
  readonly gone = new Map<string, number>();
  /** Unreadable mails, and unreadable files that may have mails, with the reason; one per line. */
  readonly broken: string[] = [];
  /** Files that are no mail, with the reason; one per line. */
  readonly noMail: string[] = [];

  /** Names a part that is not read. */
  add({ name, reason, isMail }: NotRead): void {
    (isMail ? this.broken : this.noMail).push(printable`${name}: ${reason}\n`);
  }

  addGone(reason: string): void {
    count(this.gone, reason);
  }

  /** Returns lines with the first parts that were not read, mails first. */
  describeNotRead(): string {
    const namedLines = [
      ...this.broken.slice(0, NAMED).map((line) => `Broken: ${line}`),
      ...this.noMail.slice(0, NAMED).map((line) => `Not read: ${line}`),
    ];
    const more = this.broken.length + this.noMail.length - namedLines.length;
    const moreLine = `And ${printCount(more)} more that were not read; --skipped FILE names all.\n`;
    return namedLines.join("") + (more > 0 ? moreLine : "");
  }

  /** Returns the summary of an import. */
  describe(outputPath: string): string {
    const { kept: keptCount, sent: sentCount, broken: brokenNames } = this;
    const files = this.noMail.length;
    const noMail =
      files === 0 ? "" : `; ${printCounted(files, "file")} ${files === 1 ? "is" : "are"} no mail`;
    return [
      this.describeNotRead(),
      describeCounts("Mails by folder", this.folders, 2),
      describeCounts("Labels", this.labels, 1),
      printable`Wrote ${printCounted(keptCount, "record")} to ${outputPath}; left out ${printCount(sentCount)} `,
      "with only the sent label",
      ...Array.from(this.gone, ([reason, count]) => `, ${printCount(count)} ${reason}`),
      ` and ${printCount(brokenNames.length)} broken${noMail}.\n`,
    ].join("");
  }
}
