import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { constants, createGunzip, gunzipSync } from "node:zlib";
import { TriageError } from "../../errors.ts";
import type { FoundMail } from "../found-mail.ts";
import { emlSource } from "./eml-source.ts";
import { type GmailLayout, gmailSource } from "./gmail-source.ts";
import { mboxSource } from "./mbox-source.ts";
import { readThrough } from "./read-through.ts";
import { plainMessage } from "../../text/plain-message.ts";

const PEEK_BYTES = 64 * 1024;

/**
 * Finds the mails of an export: a folder of `.eml`, an mbox, or a Gmail API dump; files may be
 * compressed with gzip. What it is, is seen from its start, and not from its name.
 *
 * @throws TriageError when it is none of these.
 */
export async function openSource(path: string): Promise<AsyncIterable<FoundMail>> {
  const stats = await stat(path);
  if (stats.isDirectory()) return emlSource(path);
  const start = await readStart(path);
  const isCompressed = start[0] === 0x1f && start[1] === 0x8b;
  const text = (isCompressed ? unzipStart(start) : start).toString("latin1");
  const chunks = readChunks(path, isCompressed);
  if (text.startsWith("From ") || text.trim() === "") return mboxSource(chunks);
  const layout = gmailLayout(text.replace(/^\u00EF\u00BB\u00BF/, "").trimStart());
  if (layout !== null) return gmailSource(chunks, layout);
  throw new TriageError(
    plainMessage`${path} is no mailbox this command knows: give an mbox, a Gmail API dump, or a folder of .eml.`,
  );
}

async function* readChunks(path: string, isCompressed: boolean): AsyncGenerator<Buffer> {
  yield* readThrough(createReadStream(path), ...(isCompressed ? [createGunzip()] : []));
}

async function readStart(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(PEEK_BYTES), 0, PEEK_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

function unzipStart(start: Buffer): Buffer {
  return gunzipSync(start, { finishFlush: constants.Z_SYNC_FLUSH });
}

function gmailLayout(text: string): GmailLayout | null {
  if (text.startsWith("[")) return "array";
  if (!text.startsWith("{")) return null;
  const [line = ""] = text.split("\n", 1);
  try {
    const first: unknown = JSON.parse(line);
    return typeof first === "object" && first !== null && "messages" in first
      ? "messages"
      : "lines";
  } catch {
    return /"messages"\s*:\s*\[/.test(text) ? "messages" : "lines";
  }
}
