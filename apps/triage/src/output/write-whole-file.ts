import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TriageError } from "../errors.ts";

/** Puts text at a path so that whoever looks finds the old file or the whole new one, never a part. */
export async function writeWholeFile(path: string, text: string): Promise<void> {
  const temporaryPath = join(dirname(path), `.triage-${randomUUID()}.tmp`);
  try {
    await writeSynced(temporaryPath, Buffer.from(text));
    await rename(temporaryPath, path);
  } catch (error) {
    await rm(temporaryPath, { force: true });
    throw error;
  }
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  await using file = await open(path, "wx");
  await file.writeFile(bytes);
  await file.sync();
  const { size } = await file.stat();
  // A full disk can shorten a file without an error.
  if (size !== bytes.length)
    throw new TriageError(`The disk took ${size} of ${bytes.length} bytes.`);
}
