import { hash } from "node:crypto";
import type { FetchMessageObject, ImapFlow, MessageStructureObject } from "imapflow";
import { isFolderData } from "../import/mbox.ts";
import { parseMessage } from "../import/parse-message.ts";
import { toMail } from "../import/to-mail.ts";
import type { Mail, MailSource } from "../input/mail-schema.ts";
import { type FetchedMail, fetchMails } from "./fetch-mails.ts";

/** A longer header is an attack. */
const HEADER_BYTES = 65_536;
/** The start of a text; only if it lacks a snippet, more is read. */
const TEXT_BYTES = 6000;
/** As much as of a text in a file. */
const MOST_BYTES = 65_536;
/** More text parts than a mail has; only an attack has more. */
const MOST_TEXTS = 8;
/** No line of an encoded text is longer (RFC 5322, section 2.1.1); one of a page may be. */
const LINE_BYTES = 1000;
/** A snippet of fewer characters may lack some. */
const SNIPPET_LENGTH = 195;

/** The mails of some UIDs, as far as the server hands them out. */
export interface ReadMails {
  readonly mails: (readonly [uid: number, mail: Mail])[];
  readonly skipped: SkippedMail[];
  /** Mails that left the folder meanwhile. */
  readonly gone: number[];
}

/** A mail that was not read; `why` ends a sentence that begins with the mail. */
export interface SkippedMail {
  readonly uid: number;
  readonly why: string;
}

const heads = {
  query: {
    internalDate: true,
    size: true,
    bodyStructure: true,
    bodyParts: [{ key: "HEADER", maxLength: HEADER_BYTES }],
  },
  // A server may have no structure of a mail.
  isWhole: (message: FetchMessageObject, isLast: boolean) =>
    [message.headers, message.internalDate, message.size].every((field) => field !== undefined) &&
    (isLast || message.bodyStructure !== undefined),
};

/** Reads mails of the open folder: their structure, header and the start of their texts. */
export async function readMails(
  client: ImapFlow,
  uids: readonly number[],
  place: MailSource,
): Promise<ReadMails> {
  const read: ReadMails = { mails: [], skipped: [], gone: [] };
  let messages: FetchMessageObject[] = [];
  for await (const fetchedMail of fetchMails(client, uids, heads)) {
    if (fetchedMail.message === null) noteMissing(read, fetchedMail);
    else messages.push(fetchedMail.message);
  }
  for (const step of steps) {
    const next: FetchMessageObject[] = [];
    for await (const message of withTexts(client, messages, { ...step, read })) {
      const mail = await readMessage(message, { place, end: step.end });
      if (step.isEnough(message, mail)) read.mails.push([message.uid, mail]);
      else next.push(message);
    }
    messages = next;
  }
  return read;
}

function noteMissing(
  { skipped: skippedMails, gone: missingValues }: ReadMails,
  { uid, why }: Omit<FetchedMail, "message">,
) {
  if (why === null) missingValues.push(uid);
  else skippedMails.push({ uid, why });
}

/** A range of bytes of some parts. */
interface TextRange {
  readonly keysOf: (message: FetchMessageObject) => readonly string[];
  /** The first byte, and the one behind the last. */
  readonly start: number;
  readonly end: number;
}

interface ReadStep extends TextRange {
  /** Whether a record needs no further step. */
  readonly isEnough: (message: FetchMessageObject, mail: Mail) => boolean;
}

function isCut({ bodyParts = new Map<string, Buffer>() }: FetchMessageObject): boolean {
  return [...bodyParts.values()].some((text) => text.length >= TEXT_BYTES);
}

/** The start of the texts, more of them if they lack a snippet, and the whole text if no part is one. */
const steps: readonly ReadStep[] = [
  {
    keysOf: ({ bodyStructure }) => textParts(bodyStructure),
    start: 0,
    end: TEXT_BYTES,
    isEnough: (message, { snippet }) =>
      snippet.length >= SNIPPET_LENGTH || (snippet !== "" && !isCut(message)),
  },
  {
    keysOf: (message) => (isCut(message) ? textParts(message.bodyStructure) : []),
    start: TEXT_BYTES,
    end: MOST_BYTES,
    isEnough: (_, { snippet }) => snippet !== "",
  },
  { keysOf: () => ["TEXT"], start: 0, end: MOST_BYTES, isEnough: () => true },
];

/** Adds the bytes of a range to the texts of mails: one command for mails with the same parts. */
async function* withTexts(
  client: ImapFlow,
  messages: readonly FetchMessageObject[],
  { read, keysOf: partsOf, start, end }: TextRange & { readonly read: ReadMails },
): AsyncGenerator<FetchMessageObject> {
  const messageByUid = new Map(messages.map((message) => [message.uid, message]));
  for (const [parts, group] of Map.groupBy(messages, (message) => partsOf(message).join(","))) {
    const keys = parts.split(",").filter((key) => key !== "");
    if (keys.length === 0) yield* group;
    else {
      const bodyParts = keys.map((key) => ({ key, start, maxLength: end - start }));
      const isWhole = ({ bodyParts: texts }: FetchMessageObject) =>
        keys.every((key) => texts?.has(key.toLowerCase()) === true);
      const uids = group.map(({ uid }) => uid);
      for await (const fetchedMail of fetchMails(client, uids, { query: { bodyParts }, isWhole })) {
        const message = messageByUid.get(fetchedMail.uid);
        if (fetchedMail.message === null || message === undefined) noteMissing(read, fetchedMail);
        else yield { ...message, bodyParts: joinTexts(message, fetchedMail.message) };
      }
    }
  }
}

function joinTexts({ bodyParts: before }: FetchMessageObject, { bodyParts }: FetchMessageObject) {
  // A server has NIL for a text that it cannot read.
  return new Map(
    Array.from(bodyParts ?? [], ([key, text]) => {
      return [key, Buffer.concat([before?.get(key) ?? Buffer.of(), text || Buffer.of()])];
    }),
  );
}

/** Returns the id of a mail, which survives a move and a new UIDVALIDITY. */
export function mailId({
  emailId = "",
  messageId = "",
  received: receivedTime,
  size = 0,
}: Pick<FetchMessageObject, "emailId" | "size"> &
  Record<"messageId" | "received", string | undefined>): string {
  // Gmail's number, as its addresses have it.
  if (/^\d{1,20}$/.test(emailId)) return BigInt(emailId).toString(16);
  const parts = [emailId || messageId.replace(/[<>\s]/g, ""), receivedTime, size];
  return `mail-${hash("sha256", parts.join("\n")).slice(0, 24)}`;
}

/** Returns when a mailbox received a mail, in ISO 8601; undefined for a time that is none. */
export function receivedAt({
  internalDate,
}: Pick<FetchMessageObject, "internalDate">): string | undefined {
  // Texts are dates that the client cannot parse, and NIL is read as the year 1970.
  const isTime = internalDate instanceof Date && internalDate.getTime() > 0;
  const time = isTime ? internalDate.toISOString() : "";
  return /^\d{4}-/.test(time) ? time : undefined;
}

/** Returns the numbers of the text parts of a mail, without attachments. */
export function textParts(root: MessageStructureObject | undefined): string[] {
  return (hasBoundaries(root) ? listLeaves(root) : [])
    .filter(({ type, disposition }) => {
      return /^text\b/i.test(type) && disposition?.toLowerCase() !== "attachment";
    })
    .slice(0, MOST_TEXTS)
    .map(({ part = "1" }) => part);
}

/** Returns whether a structure is known, and its parts can be written again. */
function hasBoundaries(node: MessageStructureObject | undefined): node is MessageStructureObject {
  if (node === undefined || !isMultipart(node)) return node !== undefined;
  return Boolean(node.parameters?.["boundary"]) && (node.childNodes ?? []).every(hasBoundaries);
}

function listLeaves(node: MessageStructureObject): MessageStructureObject[] {
  return isMultipart(node) ? (node.childNodes ?? []).flatMap(listLeaves) : [node];
}

// A forwarded mail has child nodes too, and is an attachment.
function isMultipart({ type }: MessageStructureObject): boolean {
  return type.toLowerCase().startsWith("multipart/");
}

interface RecordOptions {
  readonly place: MailSource;
  /** How many bytes of each text were asked for. */
  readonly end: number;
}

/** Returns the record of a mail whose structure, header and texts are read. */
async function readMessage(
  message: FetchMessageObject,
  { place, end }: RecordOptions,
): Promise<Mail> {
  const { headers, bodyStructure, bodyParts = new Map<string, Buffer>() } = message;
  // A server has NIL for a header that it cannot read.
  const head = endHeader(headers && headers.includes(":") ? headers : Buffer.from("Subject:"));
  const texts = new Map(Array.from(bodyParts, ([key, text]) => [key, toWholeLines(text, end)]));
  const isWhole = texts.has("text") || !hasBoundaries(bodyStructure);
  const body = isWhole ? texts.values() : toBody(bodyStructure, texts);
  // A text that cannot be parsed leaves the header.
  const mail = await parseMessage(Buffer.concat([head, ...body])).catch(() => parseMessage(head));
  const receivedTime = receivedAt(message);
  const id = mailId({ ...message, messageId: mail.headers?.messageId, received: receivedTime });
  const arrivalTime = receivedTime?.slice(0, 10) ?? "1970-01-01";
  const source = { ...place, uid: message.uid };
  const record = toMail(
    { ...mail, id, received: receivedTime ?? mail.received },
    { arrived: arrivalTime, source },
  );
  const isNoMail = isFolderData(head.toString("latin1"));
  return isNoMail ? { ...record, from: "", subject: "", snippet: "" } : record;
}

/** Adds the blank line that some servers leave out; without it the text would belong to the header. */
function endHeader(header: Buffer): Buffer {
  const isEnded = /\n\r?\n$/.test(header.toString("latin1", header.length - 3));
  return isEnded ? header : Buffer.concat([header, Buffer.from("\r\n\r\n")]);
}

// Cut at a line end, since an encoded character or group may have been cut.
function toWholeLines(text: Buffer, end: number): Buffer {
  const lineEnd = text.lastIndexOf("\n") + 1;
  const isLong = text.length - lineEnd > LINE_BYTES;
  return text.length < end || isLong ? text : text.subarray(0, lineEnd || undefined);
}

/** Writes the parts again, each with the start of its text; attachments have none. */
function* toBody(
  node: MessageStructureObject,
  texts: ReadonlyMap<string, Buffer>,
): Generator<Buffer> {
  if (!isMultipart(node)) {
    yield texts.get(node.part ?? "1") ?? Buffer.of();
    return;
  }
  const boundary = node.parameters?.["boundary"] ?? "";
  for (const child of node.childNodes ?? []) {
    yield Buffer.from(`\r\n--${boundary}\r\n${toHeader(child)}\r\n\r\n`);
    yield* toBody(child, texts);
  }
  yield Buffer.from(`\r\n--${boundary}--\r\n`);
}

function toHeader(node: MessageStructureObject): string {
  const { type, parameters, encoding, id, disposition, dispositionParameters } = node;
  const { charset = "", ...others } = parameters ?? {};
  // Servers write us-ascii for a part that names no charset.
  const namedFields = /^us-ascii$/i.test(charset) ? others : parameters;
  const lines = [withParameters(`Content-Type: ${type}`, namedFields)];
  if (encoding !== undefined) lines.push(`Content-Transfer-Encoding: ${encoding}`);
  if (id !== undefined) lines.push(`Content-ID: ${id}`);
  if (disposition !== undefined) {
    lines.push(withParameters(`Content-Disposition: ${disposition}`, dispositionParameters));
  }
  return lines.map((line) => line.replace(/\p{Cc}/gu, " ")).join("\r\n");
}

function withParameters(start: string, parameters: Readonly<Record<string, string>> = {}): string {
  const words = Object.entries(parameters).map(([name, value]) => {
    return `; ${name}="${value.replace(/["\\]/g, "\\$&")}"`;
  });
  return start + words.join("");
}
