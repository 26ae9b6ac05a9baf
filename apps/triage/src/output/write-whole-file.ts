import { randomUUID } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TriageError } from "../errors.ts";
import { joinPieces, type TextPieces } from "../text/join-pieces.ts";

/** Puts text at a path so that whoever looks finds the old file or the whole new one, never a part. */
export async function writeWholeFile(path: string, pieces: TextPieces): Promise<void> {
  const temporaryPath = join(dirname(path), `.triage-${randomUUID()}.tmp`);
  try {
    await writeSynced(temporaryPath, pieces);
    await rename(temporaryPath, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(temporaryPath, { force: true });
    throw error;
  }
}

async function writeSynced(path: string, pieces: TextPieces): Promise<void> {
  await using file = await open(path, "wx");
  const length = await writePieces(file, pieces);
  await file.sync();
  const { size } = await file.stat();
  // A full disk can shorten a file without an error.
  if (size !== length) throw new TriageError(`The disk took ${size} of ${length} bytes.`);
}

async function writePieces(file: FileHandle, pieces: TextPieces): Promise<number> {
  let length = 0;
  for await (const piece of joinPieces(pieces)) {
    const bytes = Buffer.from(piece);
    await file.writeFile(bytes);
    length += bytes.length;
  }
  return length;
}

// The new name is on the disk only when its folder is; Windows has no such call.
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  await using folder = await open(path, "r");
  await folder.sync();
}
