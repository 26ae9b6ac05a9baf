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
  readonly importCounts: ImportCounts;
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
  const importCounts = new ImportCounts();
  const isOnlySent = onlySentRule(command.sentLabel);
  const progress = createProgress(context);
  try {
    await checkOutput(outputPath, [sourcePath], { isOwn: isMailFile });
    if (skippedPath !== null)
      await checkOutput(skippedPath, [sourcePath, outputPath], { isOwn: isNotReadList });
    const mailRecords = readMails(sourcePath, { importCounts, isOnlySent, signal, progress });
    await writeWholeFile(outputPath, toJsonArray(mailRecords)).finally(async () => {
      if (skippedPath === null || signal.aborted) return;
      await writeWholeFile(skippedPath, [...importCounts.brokenLines, ...importCounts.noMailLines]);
    });
  } catch (error) {
    throw toFileError(error, `import ${sourcePath}`);
  }
  progress.end();
  stderr.write(importCounts.describe(outputPath));
  return importCounts.brokenLines.length > 0 ? exitCodes.unanswered : exitCodes.done;
}

function isNotReadList(beginning: string): boolean {
  return /^.+: (?:it |\d+ lines? look)/.test(beginning);
}

async function* readMails(sourcePath: string, options: ImportOptions): AsyncGenerator<Mail> {
  const { importCounts, signal, progress } = options;
  const toUnique = uniqueIds();
  const isMailCopy = createCopyCheck();
  const readShare = toShare(sourcePath);
  for await (const foundItem of readSource(sourcePath, {
    signal,
    onBytesRead: readShare.onBytesRead,
  })) {
    signal.throwIfAborted();
    progress.show(
      () => `${printCounted(importCounts.keptCount, "mail")} imported${readShare.describe()}`,
    );
    if ("reason" in foundItem && foundItem.goneReason !== undefined)
      importCounts.addGone(foundItem.goneReason);
    else if ("reason" in foundItem) importCounts.addNotRead(foundItem);
    else {
      const mailRecord = await readOne(foundItem, options);
      if (mailRecord === null) continue;
      const folderName = toFolder(mailRecord);
      if (isMailCopy(mailRecord, folderName)) importCounts.addGone("in another folder too");
      else {
        importCounts.keptCount += 1;
        addCount(importCounts.folderCounts, folderName);
        yield { ...mailRecord, id: toUnique(mailRecord.id) };
      }
    }
  }
  if (importCounts.keptCount + importCounts.sentCount > 0) return;
  const problem = printable`No mail is in ${sourcePath}.`;
  const advice = "Give an mbox, a folder of mails, a Takeout archive or a Gmail API dump.";
  throw new CliError(`${importCounts.describeNotRead()}${problem} ${advice}`);
}

/** Counts the bytes of a source that were read; their share is empty until the size is known. */
function toShare(sourcePath: string) {
  let [readBytes, totalBytes] = [0, 0];
  void loadSize(sourcePath).then(
    (sizeBytes) => (totalBytes = sizeBytes),
    () => undefined, // a file that cannot be read is reported when it is its turn
  );
  return {
    onBytesRead: (byteCount: number) => void (readBytes += byteCount),
    describe: () =>
      totalBytes === 0 ? "" : ` (${Math.min(100, Math.floor((100 * readBytes) / totalBytes))} %)`,
  };
}

/** Returns the folder of a mail in its source: an mbox, or the folder of a file. */
function toFolder({ source }: Mail): string {
  const { file = "", offset } = source ?? {};
  if (offset !== undefined || !/[/]/.test(file)) return offset === undefined ? "." : file;
  return file.replace(/(?:^|\/)(?:(?:cur|new)\/)?[^/]*$/, "") || ".";
}

/** Returns a function that checks if another folder had the same mail, by its id and content. */
function createCopyCheck() {
  const folders = new Map<string, string>();
  return ({ id, from, subject, date, snippet }: Mail, folderName: string): boolean => {
    const content = [id, from, subject, date, snippet].join("\n");
    const contentHash = hash("sha256", content, "buffer").toString("latin1", 0, 12);
    const firstFolder = folders.get(contentHash);
    if (firstFolder === undefined) folders.set(contentHash, folderName);
    return firstFolder !== undefined && firstFolder !== folderName;
  };
}

function addCount(nameCounts: Map<string, number>, itemName: string): void {
  nameCounts.set(itemName, (nameCounts.get(itemName) ?? 0) + 1);
}

/** Returns a line with the names that most mails have, and their counts; empty for fewer than `least`. */
function describeCounts(
  lineTitle: string,
  nameCounts: ReadonlyMap<string, number>,
  leastCount: number,
): string {
  if (nameCounts.size < leastCount) return "";
  const sortedEntries = [...nameCounts].toSorted(
    ([, firstCount], [, secondCount]) => secondCount - firstCount,
  );
  const countedNames = sortedEntries.map(
    ([itemName, itemCount]) => printable`${itemName} ${printCount(itemCount)}`,
  );
  return `${lineTitle}: ${withRest(countedNames, 30).join(", ")}.\n`;
}

/** Returns a function that returns an id itself the first time, and `id#2`, `id#3` after it. */
function uniqueIds() {
  const idCounts = new Map<string, number>();
  return function toUnique(mailId: string): string {
    const idCount = (idCounts.get(mailId) ?? 0) + 1;
    idCounts.set(mailId, idCount);
    return idCount === 1 ? mailId : toUnique(`${mailId}#${idCount}`);
  };
}

async function readOne(foundMail: FoundMail, { importCounts, isOnlySent }: ImportOptions) {
  try {
    const importedMail = await foundMail.read();
    for (const labelName of importedMail.labels ?? [])
      addCount(importCounts.labelCounts, labelName);
    if (isOnlySent(importedMail.labels)) {
      importCounts.sentCount += 1;
      return null;
    }
    if (importedMail.goneReason) {
      importCounts.addGone(importedMail.goneReason);
      return null;
    }
    const mailRecord = toMail(importedMail, foundMail);
    if (isEmptyMail(mailRecord)) throw new ImportProblem("it has no sender, subject or text");
    return mailRecord;
  } catch (error) {
    // A parser's own message may quote the mail.
    const reason = error instanceof ImportProblem ? error.message : "it cannot be read";
    importCounts.addNotRead({ name: foundMail.name, reason, mayBeMail: true });
    return null;
  }
}

const NAMED_LINES = 10;

class ImportCounts {
  keptCount = 0;
  /** Mails with only a sent label, which are left out. */
  sentCount = 0;
  /** The mails of each folder that are kept, and of each label. */
  readonly folderCounts = new Map<string, number>();
  readonly labelCounts = new Map<string, number>();
  /** Mails that are no longer in their folder, by the reason. */
  readonly goneCounts = new Map<string, number>();
  /** Unreadable mails, and unreadable files that may have mails, with the reason; one per line. */
  readonly brokenLines: string[] = [];
  /** Files that are no mail, with the reason; one per line. */
  readonly noMailLines: string[] = [];

  /** Names a part that is not read. */
  addNotRead({ name, reason, mayBeMail }: NotRead): void {
    (mayBeMail ? this.brokenLines : this.noMailLines).push(printable`${name}: ${reason}\n`);
  }

  addGone(reason: string): void {
    addCount(this.goneCounts, reason);
  }

  /** Returns lines with the first parts that were not read, mails first. */
  describeNotRead(): string {
    const namedLines = [
      ...this.brokenLines.slice(0, NAMED_LINES).map((brokenLine) => `Broken: ${brokenLine}`),
      ...this.noMailLines.slice(0, NAMED_LINES).map((noMailLine) => `Not read: ${noMailLine}`),
    ];
    const moreCount = this.brokenLines.length + this.noMailLines.length - namedLines.length;
    const moreLine = `And ${printCount(moreCount)} more; --skipped FILE names all.\n`;
    return namedLines.join("") + (moreCount > 0 ? moreLine : "");
  }

  /** Returns the summary of an import. */
  describe(outputPath: string): string {
    const { keptCount, sentCount, brokenLines } = this;
    const fileCount = this.noMailLines.length;
    const noMailText =
      fileCount === 0
        ? ""
        : `; ${printCounted(fileCount, "file")} ${fileCount === 1 ? "is" : "are"} no mail`;
    return [
      this.describeNotRead(),
      describeCounts("Mails by folder", this.folderCounts, 2),
      describeCounts("Labels", this.labelCounts, 1),
      printable`Wrote ${printCounted(keptCount, "record")} to ${outputPath}; left out ${printCount(sentCount)} `,
      "with only the sent label",
      ...Array.from(
        this.goneCounts,
        ([reason, goneCount]) => `, ${printCount(goneCount)} ${reason}`,
      ),
      ` and ${printCount(brokenLines.length)} broken${noMailText}.\n`,
    ].join("");
  }
}
