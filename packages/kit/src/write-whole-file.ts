import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CliError, isBrokenPipe, toFileError } from "./errors.ts";
import { type FileSystem, systemFiles } from "./file-system.ts";

/** The content of a file: text or bytes, whole or in pieces. */
export type FileContent =
  | string
  | Buffer
  | Iterable<string | Uint8Array>
  | AsyncIterable<string | Uint8Array>;

/** How a file is written. */
interface WriteOptions {
  /** Whether others may read the file, or as those that may read the replaced file. @default only its owner */
  readonly isPublic?: boolean;
  /** A sentence after the message of a failure, such as "Every answer is kept." */
  readonly note?: string | undefined;
  /** @default the files of this machine */
  readonly files?: FileSystem | undefined;
  /** Names the temporary file. @default randomUUID */
  readonly newId?: (() => string) | undefined;
}

/**
 * Writes a file so that a reader finds the old one or the whole new one, also after a power cut. If
 * the disk or the content fails, the old file stays. A link keeps its target. Only the owner can read the
 * file, unless `isPublic` keeps the permissions of the replaced file.
 *
 * @throws CliError if it cannot be written, or an error of the content.
 */
export async function writeWholeFile(
  path: string,
  content: FileContent,
  { isPublic = false, note, files = systemFiles, newId = randomUUID }: WriteOptions = {},
): Promise<void> {
  const target = files.realpath(path);
  if (isStream(path, files.stat(target)?.mode)) return await writeToStream(path, content, note);
  const temporaryPath = join(dirname(target), `.${newId()}.tmp`);
  try {
    const replacedStats = isPublic ? files.stat(target) : undefined;
    const file = files.open(temporaryPath, "wx", isPublic ? undefined : 0o600);
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
    throw toWriteError(error, path, note);
  }
}

/** Returns the error of a write; one of the content stays as it is. */
function toWriteError(error: unknown, path: string, note?: string): unknown {
  return error instanceof ContentError ? error.cause : toFileError(error, `write ${path}`, note);
}

/** Returns whether a path is no file but a pipe or a device, which takes the text and must not be replaced. */
function isStream(path: string, mode = 0n): boolean {
  const isOther = [0o010000n, 0o020000n, 0o060000n, 0o140000n].includes(mode & 0o170000n);
  return isOther || path === "/dev/stdout" || path === "/dev/stderr";
}

async function writeToStream(path: string, content: FileContent, note?: string): Promise<void> {
  const pieces = toPieces(content);
  const isOutput = path === "/dev/stdout";
  try {
    if (!isOutput && path !== "/dev/stderr") return await writeFile(path, pieces, { flag: "a" });
    const { stdout, stderr } = process;
    for await (const piece of pieces) {
      await new Promise<void>((resolve, reject) => {
        const settle = (error?: Error | null) => (error ? reject(error) : resolve());
        (isOutput ? stdout : stderr).write(piece, settle);
      });
    }
  } catch (error) {
    if (!isBrokenPipe(error)) throw toWriteError(error, path, note);
  }
}

const BLOCK_BYTES = 65_536;

/** Wraps an error of the content, such as of a file that it is read from, which is none of the written file. */
class ContentError extends Error {}

function toPieces(content: FileContent) {
  return typeof content === "string" || Buffer.isBuffer(content) ? [content] : readPieces(content);
}

async function* readPieces(content: Exclude<FileContent, string | Buffer>) {
  try {
    yield* content;
  } catch (error) {
    throw new ContentError("", { cause: error });
  }
}

/** Writes pieces in blocks; returns how many bytes they have. */
async function writeBlocks(files: FileSystem, file: number, content: FileContent): Promise<number> {
  const pieces = toPieces(content);
  let [writtenCount, waiting, parts]: [number, number, Buffer[]] = [0, 0, []];
  const flush = async (): Promise<void> => {
    const block = Buffer.concat(parts);
    [writtenCount, waiting, parts] = [writtenCount + waiting, 0, []];
    for (
      let [at, acceptedBytes] = [0, 1];
      acceptedBytes > 0 && at < block.length;
      at += acceptedBytes
    ) {
      acceptedBytes = await files.write(file, block.subarray(at));
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
