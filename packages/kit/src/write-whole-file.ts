import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { CliError, toFileError } from "./errors.ts";
import { type FileSystem, systemFiles } from "./file-system.ts";

/** The content of a file: text or bytes, whole or in pieces. */
export type FileContent =
  | string
  | Buffer
  | Iterable<string | Uint8Array>
  | AsyncIterable<string | Uint8Array>;

/** How a file is written. */
interface WriteOptions {
  /** The permissions of the file. @default those of the replaced file */
  readonly mode?: number;
  /** The next step, for a CliError in place of an error of the file system. */
  readonly advice?: string | undefined;
  /** @default the files of this machine */
  readonly files?: FileSystem | undefined;
  /** Names the temporary file. @default randomUUID */
  readonly newId?: (() => string) | undefined;
}

/**
 * Writes a file so that a reader finds the old one or the whole new one, also after a power cut. If
 * the disk or the content fails, the old file stays. A link keeps its target, and a replaced file its
 * permissions unless `mode` is given.
 *
 * @throws an error of the file system, of the content, or a CliError if the disk took too little.
 */
export async function writeWholeFile(
  path: string,
  content: FileContent,
  { mode, advice, files = systemFiles, newId = randomUUID }: WriteOptions = {},
): Promise<void> {
  const target = files.realpath(path);
  const temporaryPath = join(dirname(target), `.${newId()}.tmp`);
  try {
    const replacedStats = mode === undefined ? files.stat(target) : undefined;
    const file = files.open(temporaryPath, "wx", mode);
    try {
      // The mode is set here because the umask reduces the mode of `open`.
      if (replacedStats) files.chmod(temporaryPath, Number(replacedStats.mode & 0o777n));
      const length = await writeBlocks(files, file, content);
      await files.sync(file);
      const size = Number(files.stat(temporaryPath)?.size);
      // A full disk can shorten a file without an error.
      if (size !== length) throw new CliError(`The disk took ${size} of ${length} bytes.`);
    } finally {
      files.close(file);
    }
    files.rename(temporaryPath, target);
    await syncFolder(dirname(target), files);
  } catch (error) {
    files.remove(temporaryPath);
    throw advice === undefined ? error : toFileError(error, `write ${path}`, advice);
  }
}

const BLOCK_BYTES = 65_536;

/** Writes pieces in blocks; returns how many bytes they have. */
async function writeBlocks(files: FileSystem, file: number, content: FileContent): Promise<number> {
  const pieces = typeof content === "string" || Buffer.isBuffer(content) ? [content] : content;
  let [writtenCount, waiting, parts]: [number, number, Buffer[]] = [0, 0, []];
  const flush = async (): Promise<void> => {
    const block = Buffer.concat(parts);
    [writtenCount, waiting, parts] = [writtenCount + waiting, 0, []];
    for (let [at, takenCount] = [0, 1]; takenCount > 0 && at < block.length; at += takenCount) {
      takenCount = await files.write(file, block.subarray(at));
    }
  };
  for await (const piece of pieces) {
    const bytes = Buffer.from(piece as Uint8Array);
    parts.push(bytes);
    waiting += bytes.length;
    if (waiting >= BLOCK_BYTES) await flush();
  }
  await flush();
  return writtenCount;
}

// The new name is on the disk only when its folder is; Windows has no such call.
async function syncFolder(path: string, files: FileSystem): Promise<void> {
  if (process.platform === "win32") return;
  const folder = files.open(path, "r");
  await files.sync(folder).finally(() => files.close(folder));
}
