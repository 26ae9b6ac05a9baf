import { pipeline, Readable } from "node:stream";
import { createGunzip, createInflateRaw } from "node:zlib";
import { extract } from "tar-stream";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import type { NotRead, SourceFile } from "./found-mail.ts";

/** Archives in archives are seldom mail, and may be made to never end. */
const MOST_DEPTH = 3;
/** With Node's default of 16 KB the import of a packed file takes 1.5 times as long. */
const pieces = { chunkSize: 64 * 1024 };

type Entries = AsyncGenerator<SourceFile | NotRead>;

/**
 * Finds the files of an archive, in order, or the file that gzip packed; null if it is neither.
 *
 * @param depth - The number of archives that the file is in.
 */
export function filesInArchive(
  file: SourceFile,
  { start, all }: { readonly start: Buffer; readonly all: AsyncIterable<Buffer> },
  depth = 0,
): Entries | null {
  const bytes = start.toString("latin1");
  const isTar = bytes.startsWith("ustar", 257);
  if (bytes.startsWith("PK\x03\x04") || bytes.startsWith("PK\x05\x06")) return zipFiles(file);
  if (!isTar && !bytes.startsWith("\x1f\x8b")) return null;
  if (depth === MOST_DEPTH) return only(tooDeep(file));
  return isTar ? tarFiles(file, all) : only({ ...file, path: null, chunks: gunzip(all) });
}

async function* only(entry: SourceFile | NotRead): Entries {
  yield entry;
}

function tooDeep({ name }: SourceFile): NotRead {
  const reason = "it is an archive in an archive; unpack the outer one and import the folder";
  return { name, reason, isMail: true };
}

function gunzip(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  return pipeline(Readable.from(chunks), createGunzip(pieces), ignore) as AsyncIterable<Buffer>;
}

async function* tarFiles(archive: SourceFile, chunks: AsyncIterable<Buffer>): Entries {
  const unpackedExtract = extract();
  pipeline(Readable.from(chunks), unpackedExtract, ignore);
  for await (const entry of unpackedExtract) {
    const { type, mtime } = entry.header;
    const name = entryName(archive, entry.header.name);
    const content = entry[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    if (type === "file" || type === "contiguous-file") {
      const modifiedAt = mtime ?? archive.modifiedAt;
      yield { name, prefix: `${name}: `, path: null, modifiedAt, chunks: rest(content) };
    } else if (type !== "directory") {
      yield { name, reason: "it is no regular file", isMail: false };
    }
    // The unread rest of a file comes before the next file.
    for await (const _ of rest(content));
  }
}

// Without `return`, which would end the whole archive.
async function* rest(content: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  for (let next = await content.next(); next.done !== true; next = await content.next()) {
    yield next.value;
  }
}

async function* zipFiles(archive: SourceFile): Entries {
  if (archive.path === null) yield tooDeep(archive);
  else yield* zipEntries(archive, archive.path);
}

async function* zipEntries(archive: SourceFile, path: string): Entries {
  const zip = await openPromise(path, { autoClose: false });
  try {
    for await (const entry of zip.eachEntry()) {
      if (!entry.fileName.endsWith("/")) yield zipFile(archive, zip, entry);
    }
  } finally {
    zip.close();
  }
}

function zipFile(archive: SourceFile, zip: ZipFile, entry: Entry): SourceFile | NotRead {
  const name = entryName(archive, entry.fileName);
  const reason = entry.isEncrypted()
    ? "it is encrypted; unpack the archive with its password and import the folder"
    : "it is packed in a way not known here; unpack the archive and import the folder";
  if (!entry.canDecodeFileData()) return { name, reason, isMail: true };
  const chunks = readEntry(zip, entry, archive.onRead);
  return { name, prefix: `${name}: `, path: null, modifiedAt: entry.getLastModDate(), chunks };
}

async function* readEntry(
  zip: ZipFile,
  entry: Entry,
  onRead: SourceFile["onRead"],
): AsyncGenerator<Buffer> {
  const storedStream = await zip.openReadStreamPromise(entry, { decodeFileData: false });
  const content = entry.isCompressed()
    ? pipeline(storedStream, createInflateRaw(pieces), ignore)
    : storedStream;
  let remainingCount = entry.uncompressedSize;
  const packedShare = entry.compressedSize / entry.uncompressedSize;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    remainingCount -= chunk.length;
    onRead?.(chunk.length * packedShare);
    if (remainingCount < 0) break;
    yield chunk;
  }
  if (remainingCount !== 0) throw new Error("its size is not the one in the archive");
}

function entryName({ name: archive, prefix }: SourceFile, name: string): string {
  return prefix === "" ? name : `${archive}/${name}`;
}

function ignore(): void {}
