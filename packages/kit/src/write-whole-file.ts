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
  readonly failureNote?: string | undefined;
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
  typedPath: string,
  content: FileContent,
  { isPublic = false, failureNote, files = systemFiles, newId = randomUUID }: WriteOptions = {},
): Promise<void> {
  const targetPath = files.realpath(typedPath);
  if (isStream(typedPath, files.stat(targetPath)?.mode))
    return await writeToStream(typedPath, content, failureNote);
  const temporaryPath = join(dirname(targetPath), `.${newId()}.tmp`);
  try {
    const replacedStats = isPublic ? files.stat(targetPath) : undefined;
    const descriptor = files.open(temporaryPath, "wx", isPublic ? undefined : 0o600);
    try {
      // The mode is set here because the umask reduces the mode of `open`.
      if (replacedStats) files.chmod(temporaryPath, Number(replacedStats.mode & 0o777n));
      const contentLength = await writeBlocks(files, descriptor, content);
      await files.sync(descriptor);
      const writtenSize = Number(files.stat(temporaryPath)?.size);
      // A full disk can shorten a file without an error.
      if (writtenSize !== contentLength)
        throw new CliError(`The disk took ${writtenSize} of ${contentLength} bytes.`);
    } finally {
      files.close(descriptor);
    }
    files.rename(temporaryPath, targetPath);
    await syncFolder(dirname(targetPath), files);
  } catch (error) {
    files.remove(temporaryPath);
    throw toWriteError(error, typedPath, failureNote);
  }
}

/** Returns the error of a write; one of the content stays as it is. */
function toWriteError(thrownValue: unknown, filePath: string, failureNote?: string): unknown {
  return thrownValue instanceof ContentError
    ? thrownValue.cause
    : toFileError(thrownValue, `write ${filePath}`, failureNote);
}

/** Returns whether a path is no file but a pipe or a device, which takes the text and must not be replaced. */
function isStream(filePath: string, fileMode = 0n): boolean {
  const isPipeOrDevice = [0o010000n, 0o020000n, 0o060000n, 0o140000n].includes(
    fileMode & 0o170000n,
  );
  return isPipeOrDevice || filePath === "/dev/stdout" || filePath === "/dev/stderr";
}

async function writeToStream(
  streamPath: string,
  content: FileContent,
  failureNote?: string,
): Promise<void> {
  const contentPieces = toPieces(content);
  const isStandardOutput = streamPath === "/dev/stdout";
  try {
    if (!isStandardOutput && streamPath !== "/dev/stderr")
      return await writeFile(streamPath, contentPieces, { flag: "a" });
    const { stdout, stderr } = process;
    for await (const contentPiece of contentPieces) {
      await new Promise<void>((resolve, reject) => {
        const settleWrite = (writeError?: Error | null) =>
          writeError ? reject(writeError) : resolve();
        (isStandardOutput ? stdout : stderr).write(contentPiece, settleWrite);
      });
    }
  } catch (error) {
    if (!isBrokenPipe(error)) throw toWriteError(error, streamPath, failureNote);
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
async function writeBlocks(
  fileSystem: FileSystem,
  descriptor: number,
  content: FileContent,
): Promise<number> {
  const contentPieces = toPieces(content);
  let [writtenBytes, waitingBytes, waitingPieces]: [number, number, Buffer[]] = [0, 0, []];
  const writeWaiting = async (): Promise<void> => {
    const blockBytes = Buffer.concat(waitingPieces);
    [writtenBytes, waitingBytes, waitingPieces] = [writtenBytes + waitingBytes, 0, []];
    for (
      let [blockOffset, acceptedBytes] = [0, 1];
      acceptedBytes > 0 && blockOffset < blockBytes.length;
      blockOffset += acceptedBytes
    ) {
      acceptedBytes = await fileSystem.write(descriptor, blockBytes.subarray(blockOffset));
    }
  };
  for await (const contentPiece of contentPieces) {
    const pieceBytes = Buffer.from(contentPiece as Uint8Array);
    waitingPieces.push(pieceBytes);
    waitingBytes += pieceBytes.length;
    if (waitingBytes >= BLOCK_BYTES) await writeWaiting();
  }
  await writeWaiting();
  return writtenBytes;
}

// The new name is on the disk only when its folder is; Windows has no such call.
async function syncFolder(folderPath: string, fileSystem: FileSystem): Promise<void> {
  if (process.platform === "win32") return;
  const folderDescriptor = fileSystem.open(folderPath, "r");
  await fileSystem.sync(folderDescriptor).finally(() => fileSystem.close(folderDescriptor));
}
