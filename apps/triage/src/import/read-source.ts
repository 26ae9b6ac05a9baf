import { createReadStream, type Stats } from "node:fs";
import { lstat, readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { CliError, describeSystemError } from "evaluator-kit";
import { peek } from "evaluator-runs/source";
import type { MailSource } from "../input/mail-schema.ts";
import { filesInArchive } from "./archives.ts";
import { type FoundMail, ImportProblem, type NotRead, type SourceFile } from "./found-mail.ts";
import { readMailFile } from "./mail-files.ts";

const PEEK_BYTES = 64 * 1024;

type Found = AsyncGenerator<FoundMail | NotRead>;

/**
 * Finds the mails of a folder, an archive or a file; the first bytes of a file decide its format.
 * Unreadable parts are reported, and the next part is read. With a `place` it reads on from there.
 */
export function readSource(sourcePath: string, { mailPlace, ...reading }: SourceOptions): Found {
  return readEntries(findFiles(sourcePath, reading), {
    signal: reading.signal,
    mailPlace,
    archiveDepth: 0,
  });
}

interface Reading {
  readonly signal: AbortSignal;
  /** Called with the size of each chunk read, in bytes on the disk: compressed, if the file is. */
  readonly onBytesRead?: SourceFile["onBytesRead"];
}

interface SourceOptions extends Reading {
  readonly mailPlace?: MailSource | undefined;
}

/** Returns the bytes of a file, or of all files below a folder. */
export async function loadSize(sourcePath: string): Promise<number> {
  const sourceStats = await stat(sourcePath);
  if (!sourceStats.isDirectory()) return sourceStats.size;
  let totalBytes = 0;
  for (const folderEntry of await readdir(sourcePath, { recursive: true, withFileTypes: true })) {
    if (folderEntry.isFile())
      totalBytes += (await stat(join(folderEntry.parentPath, folderEntry.name))).size;
  }
  return totalBytes;
}

/** With the number of archives that the entries are in. */
type ReadOptions = Readonly<{
  signal: AbortSignal;
  archiveDepth: number;
  mailPlace: MailSource | undefined;
}>;

async function* readEntries(
  entries: AsyncIterable<SourceFile | NotRead>,
  options: ReadOptions,
): Found {
  for await (const sourceEntry of entries) {
    if (!mayHave(sourceEntry, options.mailPlace)) continue;
    if ("reason" in sourceEntry) yield sourceEntry;
    else yield* readFile(sourceEntry, options);
  }
}

/** Returns whether an entry is the file of a place, an archive around it, or the whole source. */
function mayHave(sourceEntry: SourceFile | NotRead, mailPlace: MailSource | undefined): boolean {
  const isSource = "prefix" in sourceEntry && sourceEntry.prefix === "";
  return (
    isSource || mailPlace === undefined || `${mailPlace.file}/`.startsWith(`${sourceEntry.name}/`)
  );
}

async function* readFile(sourceFile: SourceFile, options: ReadOptions): Found {
  const { signal, mailPlace, archiveDepth } = options;
  let lastName: string | null = null;
  try {
    const { close, ...content } = await peek(sourceFile.contentChunks, PEEK_BYTES);
    await using _ = { [Symbol.asyncDispose]: close };
    const entries = filesInArchive(sourceFile, content, archiveDepth);
    const archiveMails =
      entries && readEntries(entries, { ...options, archiveDepth: archiveDepth + 1 });
    for await (const foundMail of archiveMails ?? readMailFile(sourceFile, content, mailPlace)) {
      lastName = foundMail.name;
      yield foundMail;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (lastName === null)
      yield { name: sourceFile.name, reason: toReason(error), mayBeMail: true };
    else
      yield {
        name: `after ${lastName}`,
        reason: `${toReason(error)}; the rest is lost`,
        mayBeMail: true,
      };
  }
}

/** Returns why a part cannot be read. A library's message may quote the mail. */
function toReason(error: unknown): string {
  if (error instanceof ImportProblem || error instanceof CliError) return error.message;
  const isOutside = error instanceof Error && /^(?:invalid rel|absol)/.test(error.message);
  if (isOutside) return "it has a path outside the archive";
  // Errors of zlib have a code too, but no system call.
  const isSystem = error instanceof Error && "syscall" in error;
  return isSystem
    ? `it cannot be read: ${describeSystemError(error)}`
    : "it is broken, or breaks off";
}

/**
 * Finds the file of a path, or all files below a folder, by name. Follows links to files, but not
 * links to folders, since they may lead in a circle.
 */
export async function* findFiles(sourcePath: string, reading: Reading) {
  const sourceStats = await stat(sourcePath);
  if (sourceStats.isDirectory()) yield* filesIn(sourcePath, "", reading);
  else
    yield sourceFileAt(
      { diskPath: sourcePath, name: basename(sourcePath), prefix: "" },
      sourceStats,
      reading,
    );
}

async function* filesIn(
  folderPath: string,
  namePrefix: string,
  reading: Reading,
): AsyncGenerator<SourceFile | NotRead> {
  const fileNames = await readdir(folderPath);
  for (const fileName of fileNames.toSorted()) {
    reading.signal.throwIfAborted();
    const [filePath, shownName] = [join(folderPath, fileName), `${namePrefix}${fileName}`];
    try {
      const isSymbolicLink = (await lstat(filePath)).isSymbolicLink();
      const fileStats = await stat(filePath);
      if (!fileStats.isDirectory())
        yield sourceFileAt(
          { diskPath: filePath, name: shownName, prefix: `${shownName}: ` },
          fileStats,
          reading,
        );
      else if (isSymbolicLink)
        yield notRead(shownName, "it is a link to a folder; give that folder");
      else yield* filesIn(filePath, `${shownName}/`, reading);
    } catch (error) {
      const reason = describeSystemError(error);
      if (reason === null) throw error;
      yield notRead(shownName, `it cannot be read: ${reason}`);
    }
  }
}

function notRead(nameInSource: string, reason: string): NotRead {
  return { name: nameInSource, reason, mayBeMail: true };
}

function sourceFileAt(
  namedFile: Pick<SourceFile, "name" | "prefix"> & { readonly diskPath: string },
  fileStats: Stats,
  reading: Reading,
): SourceFile | NotRead {
  if (!fileStats.isFile())
    return { name: namedFile.name, reason: "it is no regular file", mayBeMail: false };
  const { onBytesRead } = reading;
  return {
    ...namedFile,
    modifiedAt: fileStats.mtime,
    onBytesRead,
    contentChunks: readChunks(namedFile.diskPath, reading),
  };
}

// Opened only while it is read: a folder may have more files than a process may open.
async function* readChunks(
  filePath: string,
  { signal, onBytesRead }: Reading,
): AsyncGenerator<Buffer> {
  for await (const fileChunk of createReadStream(filePath) as AsyncIterable<Buffer>) {
    signal.throwIfAborted();
    onBytesRead?.(fileChunk.length);
    yield fileChunk;
  }
}
