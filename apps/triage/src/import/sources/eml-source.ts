import { open, readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import type { FoundMail } from "../found-mail.ts";
import { MESSAGE_BYTES, parseMessage } from "../parse-message.ts";

/** Finds the `.eml` files in a folder and the folders in it, by name. */
export async function* emlSource(folder: string): AsyncGenerator<FoundMail> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && /\.eml$/i.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  for (const path of paths.toSorted()) {
    const { size } = await stat(path);
    yield {
      place: relative(folder, path),
      isCut: size > MESSAGE_BYTES,
      read: async () => parseMessage(await readStart(path)),
    };
  }
}

async function readStart(path: string): Promise<Uint8Array> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MESSAGE_BYTES), 0, MESSAGE_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}
