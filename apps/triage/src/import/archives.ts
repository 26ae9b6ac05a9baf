import { pipeline, Readable } from "node:stream";
import { createGunzip, createInflateRaw } from "node:zlib";
import { extract } from "tar-stream";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import type { NotRead, SourceFile } from "./found-mail.ts";

/** Archives in archives are seldom mail, and may be made to never end. */
const MOST_DEPTH = 3;
/** With Node's default of 16 KB the import of a packed file takes 1.5 times as long. */
const unpackOptions = { chunkSize: 64 * 1024 };

type Entries = AsyncGenerator<SourceFile | NotRead>;

/**
 * Finds the files of an archive, in order, or the file that gzip packed; null if it is neither.
 *
 * @param archiveDepth - The number of archives that the file is in.
 */
export function filesInArchive(
  sourceFile: SourceFile,
  { start, all }: { readonly start: Buffer; readonly all: AsyncIterable<Buffer> },
  archiveDepth = 0,
): Entries | null {
  const startText = start.toString("latin1");
  const isTar = startText.startsWith("ustar", 257);
  if (startText.startsWith("PK\x03\x04") || startText.startsWith("PK\x05\x06"))
    return zipFiles(sourceFile);
  if (!isTar && !startText.startsWith("\x1f\x8b")) return null;
  if (archiveDepth === MOST_DEPTH) return singleEntry(tooDeep(sourceFile));
  return isTar
    ? tarFiles(sourceFile, all)
    : singleEntry({ ...sourceFile, diskPath: null, contentChunks: unzipChunks(all) });
}

async function* singleEntry(sourceEntry: SourceFile | NotRead): Entries {
  yield sourceEntry;
}

function tooDeep({ name }: SourceFile): NotRead {
  const reason = "it is an archive in an archive; import the unpacked outer one";
  return { name, reason, mayBeMail: true };
}

function unzipChunks(packedChunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  return pipeline(
    Readable.from(packedChunks),
    createGunzip(unpackOptions),
    ignoreError,
  ) as AsyncIterable<Buffer>;
}

async function* tarFiles(archive: SourceFile, archiveChunks: AsyncIterable<Buffer>): Entries {
  const unpackedExtract = extract();
  pipeline(Readable.from(archiveChunks), unpackedExtract, ignoreError);
  for await (const tarEntry of unpackedExtract) {
    const { type, mtime } = tarEntry.header;
    const nameInSource = entryName(archive, tarEntry.header.name);
    const content = tarEntry[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    if (type === "file" || type === "contiguous-file") {
      const modifiedAt = mtime ?? archive.modifiedAt;
      yield {
        name: nameInSource,
        prefix: `${nameInSource}: `,
        diskPath: null,
        modifiedAt,
        contentChunks: remainingChunks(content),
      };
    } else if (type !== "directory") {
      yield { name: nameInSource, reason: "it is no regular file", mayBeMail: false };
    }
    // The unread rest of a file comes before the next file.
    for await (const _ of remainingChunks(content));
  }
}

// Without `return`, which would end the whole archive.
async function* remainingChunks(content: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  for (
    let nextResult = await content.next();
    nextResult.done !== true;
    nextResult = await content.next()
  ) {
    yield nextResult.value;
  }
}

async function* zipFiles(archive: SourceFile): Entries {
  if (archive.diskPath === null) yield tooDeep(archive);
  else yield* zipEntries(archive, archive.diskPath);
}

async function* zipEntries(archive: SourceFile, archivePath: string): Entries {
  const zipArchive = await openPromise(archivePath, { autoClose: false });
  try {
    for await (const zipEntry of zipArchive.eachEntry()) {
      if (!zipEntry.fileName.endsWith("/")) yield zipFile(archive, zipArchive, zipEntry);
    }
  } finally {
    zipArchive.close();
  }
}

function zipFile(archive: SourceFile, zipArchive: ZipFile, zipEntry: Entry): SourceFile | NotRead {
  const nameInSource = entryName(archive, zipEntry.fileName);
  const reason = zipEntry.isEncrypted()
    ? "it is encrypted; import it unpacked"
    : "its packing is unknown; import it unpacked";
  if (!zipEntry.canDecodeFileData()) return { name: nameInSource, reason, mayBeMail: true };
  const contentChunks = readEntry(zipArchive, zipEntry, archive.onBytesRead);
  return {
    name: nameInSource,
    prefix: `${nameInSource}: `,
    diskPath: null,
    modifiedAt: zipEntry.getLastModDate(),
    contentChunks,
  };
}

async function* readEntry(
  zipArchive: ZipFile,
  zipEntry: Entry,
  onBytesRead: SourceFile["onBytesRead"],
): AsyncGenerator<Buffer> {
  const storedStream = await zipArchive.openReadStreamPromise(zipEntry, { decodeFileData: false });
  const content = zipEntry.isCompressed()
    ? pipeline(storedStream, createInflateRaw(unpackOptions), ignoreError)
    : storedStream;
  let remainingCount = zipEntry.uncompressedSize;
  const packedShare = zipEntry.compressedSize / zipEntry.uncompressedSize;
  for await (const contentChunk of content as AsyncIterable<Buffer>) {
    remainingCount -= contentChunk.length;
    onBytesRead?.(contentChunk.length * packedShare);
    if (remainingCount < 0) break;
    yield contentChunk;
  }
  if (remainingCount !== 0) throw new Error("its size differs from the archive's");
}

function entryName({ name: archive, prefix }: SourceFile, name: string): string {
  return prefix === "" ? name : `${archive}/${name}`;
}

function ignoreError(): void {}
