import { randomUUID } from "node:crypto";
import { open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CliError, toFileError } from "./errors.ts";

/** The content of a file: text or bytes, whole or in pieces. */
export type FileContent =
  | string
  | Buffer
  | Iterable<string | Uint8Array>
  | AsyncIterable<string | Uint8Array>;

/**
 * Writes a file so that a reader finds the old one or the whole new one, also after a power cut. If
 * the disk or the content fails, the old file stays. A link keeps its target, and a replaced file its
 * permissions unless `mode` is given.
 *
 * @param options - `advice`: the next step, for a CliError in place of an error of the file system.
 * @throws an error of the file system, of the content, or a CliError if the disk took too little.
 */
export async function writeWholeFile(
  path: string,
  content: FileContent,
  { mode, advice }: { readonly mode?: number; readonly advice?: string | undefined } = {},
): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const temporaryPath = join(dirname(target), `.${randomUUID()}.tmp`);
  try {
    const replaced = mode === undefined ? await stat(target).catch(() => null) : null;
    const keptMode = replaced && replaced.mode & 0o777;
    await writeSynced(temporaryPath, content, { mode, keptMode });
    await rename(temporaryPath, target);
    await syncFolder(dirname(target));
  } catch (error) {
    await rm(temporaryPath, { force: true });
    throw advice === undefined ? error : toFileError(error, `write ${path}`, advice);
  }
}

async function writeSynced(
  path: string,
  content: FileContent,
  { mode, keptMode }: { mode: number | undefined; keptMode: number | null },
): Promise<void> {
  await using file = await open(path, "wx", mode);
  // The mode is set here because the umask reduces the mode of `open`.
  if (keptMode !== null) await file.chmod(keptMode);
  const stream = file.createWriteStream({ flush: true, highWaterMark: 65_536 });
  await pipeline(Readable.from(content), stream);
  const { size } = await stat(path);
  // A full disk can shorten a file without an error.
  if (size !== stream.bytesWritten) {
    throw new CliError(`The disk took ${size} of ${stream.bytesWritten} bytes.`);
  }
}

// The new name is on the disk only when its folder is; Windows has no such call.
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  await using folder = await open(path, "r");
  await folder.sync();
}
