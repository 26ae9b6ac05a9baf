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
export function readSource(path: string, { place, ...reading }: SourceOptions): Found {
  return readEntries(findFiles(path, reading), { signal: reading.signal, place, depth: 0 });
}

interface Reading {
  readonly signal: AbortSignal;
  /** Called with the number of bytes that were read from the files; compressed files count as they are on the disk. */
  readonly onRead?: SourceFile["onRead"];
}

interface SourceOptions extends Reading {
  readonly place?: MailSource | undefined;
}

/** Returns the bytes of a file, or of all files below a folder. */
export async function loadSize(path: string): Promise<number> {
  const stats = await stat(path);
  if (!stats.isDirectory()) return stats.size;
  let bytes = 0;
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}

/** With the number of archives that the entries are in. */
type ReadOptions = Readonly<{ signal: AbortSignal; depth: number; place: MailSource | undefined }>;

async function* readEntries(
  entries: AsyncIterable<SourceFile | NotRead>,
  options: ReadOptions,
): Found {
  for await (const entry of entries) {
    if (!mayHave(entry, options.place)) continue;
    if ("reason" in entry) yield entry;
    else yield* readFile(entry, options);
  }
}

/** Returns whether an entry is the file of a place, an archive around it, or the whole source. */
function mayHave(entry: SourceFile | NotRead, place: MailSource | undefined): boolean {
  const isSource = "prefix" in entry && entry.prefix === "";
  return isSource || place === undefined || `${place.file}/`.startsWith(`${entry.name}/`);
}

async function* readFile(file: SourceFile, options: ReadOptions): Found {
  const { signal, place, depth } = options;
  let last: string | null = null;
  try {
    const { close, ...content } = await peek(file.chunks, PEEK_BYTES);
    await using _ = { [Symbol.asyncDispose]: close };
    const entries = filesInArchive(file, content, depth);
    const all = entries && readEntries(entries, { ...options, depth: depth + 1 });
    for await (const foundMail of all ?? readMailFile(file, content, place)) {
      last = foundMail.name;
      yield foundMail;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (last === null) yield { name: file.name, reason: toReason(error), isMail: true };
    else
      yield { name: `after ${last}`, reason: `${toReason(error)}; the rest is lost`, isMail: true };
  }
}

/** Returns why a part cannot be read. A library's message may quote the mail. */
function toReason(error: unknown): string {
  if (error instanceof ImportProblem || error instanceof CliError) return error.message;
  const isOutside = error instanceof Error && /^(?:invalid rel|absol)/.test(error.message);
  if (isOutside) return "it has a file with a path outside the archive";
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
export async function* findFiles(path: string, reading: Reading) {
  const stats = await stat(path);
  if (stats.isDirectory()) yield* filesIn(path, "", reading);
  else yield fileAt({ path, name: basename(path), prefix: "" }, stats, reading);
}

async function* filesIn(
  folder: string,
  prefix: string,
  reading: Reading,
): AsyncGenerator<SourceFile | NotRead> {
  const names = await readdir(folder);
  for (const name of names.toSorted()) {
    reading.signal.throwIfAborted();
    const [path, shownName] = [join(folder, name), `${prefix}${name}`];
    try {
      const isLink = (await lstat(path)).isSymbolicLink();
      const stats = await stat(path);
      if (!stats.isDirectory())
        yield fileAt({ path, name: shownName, prefix: `${shownName}: ` }, stats, reading);
      else if (isLink)
        yield notRead(shownName, "it is a link to a folder; give that folder itself");
      else yield* filesIn(path, `${shownName}/`, reading);
    } catch (error) {
      const reason = describeSystemError(error);
      if (reason === null) throw error;
      yield notRead(shownName, `it cannot be read: ${reason}`);
    }
  }
}

function notRead(name: string, reason: string): NotRead {
  return { name, reason, isMail: true };
}

function fileAt(
  file: Pick<SourceFile, "name" | "prefix"> & { readonly path: string },
  stats: Stats,
  reading: Reading,
): SourceFile | NotRead {
  if (!stats.isFile()) return { name: file.name, reason: "it is no regular file", isMail: false };
  const { onRead } = reading;
  return { ...file, modifiedAt: stats.mtime, onRead, chunks: readChunks(file.path, reading) };
}

// Opened only while it is read: a folder may have more files than a process may open.
async function* readChunks(path: string, { signal, onRead }: Reading): AsyncGenerator<Buffer> {
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    signal.throwIfAborted();
    onRead?.(chunk.length);
    yield chunk;
  }
}
