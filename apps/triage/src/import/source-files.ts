import { createReadStream, type Stats } from "node:fs";
import { lstat, readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { describeSystemError } from "evaluator-kit";
import type { NotRead } from "./found-mail.ts";

/** One file of a source: on the disk, or in an archive. */
export interface SourceFile {
  /** Its path in the source, `/` between folders. */
  readonly name: string;
  /** The start of its mails' names; empty if it is the source itself. */
  readonly prefix: string;
  /** Its path on the disk; null in an archive. */
  readonly path: string | null;
  readonly modifiedAt: Date;
  /** Its content; can be read once. */
  readonly chunks: AsyncIterable<Buffer>;
}

/**
 * Finds the file of a path, or all files below a folder, by name. Follows links to files, but not
 * links to folders, since they may lead in a circle.
 */
export async function* findFiles(path: string, signal: AbortSignal) {
  const stats = await stat(path);
  if (stats.isDirectory()) yield* filesIn(path, "", signal);
  else yield fileAt({ path, name: basename(path), prefix: "" }, stats, signal);
}

async function* filesIn(
  folder: string,
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<SourceFile | NotRead> {
  const names = await readdir(folder);
  for (const name of names.toSorted()) {
    signal.throwIfAborted();
    const [path, shown] = [join(folder, name), `${prefix}${name}`];
    try {
      const isLink = (await lstat(path)).isSymbolicLink();
      const stats = await stat(path);
      if (!stats.isDirectory())
        yield fileAt({ path, name: shown, prefix: `${shown}: ` }, stats, signal);
      else if (isLink) yield notRead(shown, "it is a link to a folder; give that folder itself");
      else yield* filesIn(path, `${shown}/`, signal);
    } catch (error) {
      const reason = describeSystemError(error);
      if (reason === null) throw error;
      yield notRead(shown, `it cannot be read: ${reason}`);
    }
  }
}

function notRead(name: string, reason: string): NotRead {
  return { name, reason, isMail: true };
}

function fileAt(
  file: Pick<SourceFile, "name" | "prefix"> & { readonly path: string },
  stats: Stats,
  signal: AbortSignal,
): SourceFile | NotRead {
  if (!stats.isFile()) return { name: file.name, reason: "it is no regular file", isMail: false };
  return { ...file, modifiedAt: stats.mtime, chunks: readChunks(file.path, signal) };
}

// Opened only while it is read: a folder may have more files than a process may open.
async function* readChunks(path: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  for await (const chunk of createReadStream(path)) {
    signal.throwIfAborted();
    yield chunk as Buffer;
  }
}
