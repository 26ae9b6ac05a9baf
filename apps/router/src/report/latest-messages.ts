import { open } from "node:fs/promises";
import { z } from "zod";
import { parseJson, systemErrorCode } from "evaluator-kit";
import { oneOf } from "../config/fields.ts";
import { describeIssue } from "../config/router-config.ts";
import { tierNames } from "../decision/tier-question.ts";
import { HttpError } from "../http-error.ts";
import { type LoggedRecord, type Note, toNote, findCallRecord } from "./read-records.ts";

const textSchema = z.string().max(256, "is too long").optional();
const timeSchema = z
  .string()
  .regex(
    /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z?)?$/,
    "is not a UTC time, such as 2026-11-24",
  )
  .transform((givenText) => givenText.replace("Z", "")) // it is compared as the start of a time
  .optional();

const fields = {
  tier: oneOf(tierNames).optional(),
  key: textSchema,
  cause: textSchema,
  endpoint: textSchema,
  from: timeSchema,
  /** Inclusive: a day holds all of its messages. */
  to: timeSchema,
  /** The `next` of the page before. */
  after: z
    .string()
    .regex(/^\d{1,15}$/, "is not the next of a page")
    .optional(),
};
const filterSchema = z.strictObject(fields, `is no filter; use ${Object.keys(fields).join(", ")}`);

/** Which messages of the decision log are wanted. */
export type MessageFilter = z.infer<typeof filterSchema>;

/** Reads a filter from an address; an empty field is unset. @throws HttpError (400) with the field. */
export function parseFilter(queryFields: Readonly<Record<string, string>>): MessageFilter {
  const filters = Object.entries(queryFields).filter(([, filterValue]) => filterValue !== "");
  const { data, error } = filterSchema.safeParse(Object.fromEntries(filters));
  if (data !== undefined) return data;
  throw new HttpError(400, `${describeIssue(error)}.`);
}

/** Returns the address of a page with a filter, or of its next part. */
export function toAddress(pagePath: string, filter: MessageFilter, after: string | null): string {
  const { after: _, ...fields } = filter as Readonly<Record<string, string>>;
  const searchParams = new URLSearchParams(after === null ? fields : { ...fields, after });
  return searchParams.size === 0 ? pagePath : `${pagePath}?${searchParams.toString()}`;
}

/** The part of the log that one request reads: about sixty thousand messages. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * Visits lines of a log, the latest first, until `visit` returns false or the bytes are read. Returns
 * the `after` that goes on from there; null at the start of the log.
 */
export async function visitLatest(
  logPath: string,
  { after, mostBytes = MOST_BYTES }: { after?: string | undefined; mostBytes?: number },
  visit: (logLine: string) => boolean,
): Promise<string | null> {
  let newestStart: number | null = null;
  const before = after === undefined ? undefined : Number(after);
  for await (const blockLines of readBackwards(logPath, { before })) {
    for (const { text: logLine, start } of blockLines) {
      newestStart ??= start;
      const goesOn = visit(logLine) && newestStart - start < mostBytes;
      if (!goesOn) return start === 0 ? null : String(start);
    }
  }
  return null;
}

/** Prepares a filter; returns a line's message if it is wanted, else null. */
export function messageFilter(
  { tier, key, cause, endpoint, from = "", to }: MessageFilter,
  toRecord = findCallRecord,
) {
  const neededWords = [tier, key, cause, endpoint]
    .flatMap((filterWord) => filterWord ?? [])
    .map((filterWord) => JSON.stringify(filterWord));
  return (logLine: string): LoggedRecord | null => {
    // Most lines that are not wanted are not parsed.
    const record = neededWords.every((word) => logLine.includes(word)) ? toRecord(logLine) : null;
    if (record === null || record.time < from) return null;
    if (to !== undefined && record.time.slice(0, to.length) > to) return null;
    const isWanted =
      (tier === undefined || record.tierUsed === tier) &&
      (key === undefined || record.key === key) &&
      (cause === undefined || record.cause === cause) &&
      (endpoint === undefined || record.endpoint === endpoint);
    return isWanted ? record : null;
  };
}

const PAGE_LENGTH = 100;

/** Returns the latest wanted messages, and the `after` of the next page; null if there is none. */
export async function listMessages(logPath: string, filter: MessageFilter) {
  const messages: LoggedRecord[] = [];
  const wantedOf = messageFilter(filter);
  const next = await visitLatest(logPath, filter, (logLine) => {
    const record = wantedOf(logLine);
    if (record !== null) messages.push(record);
    return messages.length < PAGE_LENGTH;
  });
  return { messages, next };
}

/** The part of the log in which one message is looked for, without parsing it. */
const MOST_SEARCHED_BYTES = 512 * 1024 * 1024;

/** Returns a message with its last note; null if the searched part of the log has none of this id. */
export async function findMessage(logPath: string, requestId: string) {
  const quotedId = JSON.stringify(requestId);
  const foundMessage = { record: null as LoggedRecord | null, note: null as Note | null };
  await visitLatest(logPath, { mostBytes: MOST_SEARCHED_BYTES }, (logLine) => {
    if (!logLine.includes(quotedId)) return true;
    const [record, note] = [findCallRecord(logLine), toNote(logLine)];
    // With all fields of the line; a schema that keeps them takes six times as long for each line.
    if (record?.requestId === requestId)
      foundMessage.record = { ...(parseJson(logLine) as object), ...record };
    if (note?.requestId === requestId && !note.blind) foundMessage.note ??= note;
    return foundMessage.record === null;
  });
  return foundMessage;
}

/** A line of a file, and the byte at which it begins. */
interface PlacedLine {
  readonly text: string;
  readonly start: number;
}

interface ReadOptions {
  /** Reads the lines that begin before this byte. @default the file's end */
  readonly before?: number | undefined;
  readonly blockBytes?: number;
}

const NEWLINE = 10;

/** Reads the lines of a file from its end backwards, a block at a time; a missing file has none. */
export async function* readBackwards(
  filePath: string,
  { before = Infinity, blockBytes = 256 * 1024 }: ReadOptions = {},
): AsyncGenerator<PlacedLine[]> {
  const file = await open(filePath).catch(nullIfMissing); // yarn's is not disposable
  if (file === null) return;
  try {
    let end = Math.min(before, (await file.stat()).size);
    let lineEnd = Buffer.alloc(0); // the end of a line that begins before the blocks so far
    for (let blockSize = blockBytes; end > 0;) {
      const start = Math.max(0, end - blockSize);
      const { buffer } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
      const block = Buffer.concat([buffer, lineEnd]);
      const firstLineStart = start === 0 ? 0 : block.indexOf(NEWLINE) + 1 || block.length;
      if (firstLineStart < block.length) yield listLines(block, firstLineStart, start);
      blockSize = firstLineStart < block.length ? blockBytes : blockSize * 2; // so that a long line takes linear time
      lineEnd = block.subarray(0, firstLineStart);
      end = start;
    }
  } finally {
    await file.close();
  }
}

/** Between a rotation and SIGHUP there is no file of this name. */
function nullIfMissing(error: unknown): null {
  if (systemErrorCode(error) === "ENOENT") return null;
  throw error;
}

/** Returns the lines from a byte of a block on, the last one first. */
function listLines(block: Buffer, firstStart: number, blockStart: number): PlacedLine[] {
  const blockLines: PlacedLine[] = [];
  for (let lineEnd = block.length; lineEnd > firstStart;) {
    const lastNewline = lineEnd - 2 < firstStart ? -1 : block.lastIndexOf(NEWLINE, lineEnd - 2);
    const start = Math.max(firstStart, lastNewline + 1);
    blockLines.push({ text: block.toString("utf8", start, lineEnd), start: blockStart + start });
    lineEnd = start;
  }
  return blockLines;
}
