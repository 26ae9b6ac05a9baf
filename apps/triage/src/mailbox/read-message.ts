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
  readonly uidMails: (readonly [uid: number, mail: Mail])[];
  readonly skippedMails: SkippedMail[];
  /** Mails that left the folder meanwhile. */
  readonly goneUids: number[];
}

/** A mail that was not read; `why` ends a sentence that begins with the mail. */
export interface SkippedMail {
  readonly uid: number;
  readonly missingReason: string;
}

const headerQuery = {
  query: {
    internalDate: true,
    size: true,
    bodyStructure: true,
    bodyParts: [{ key: "HEADER", maxLength: HEADER_BYTES }],
  },
  // A server may have no structure of a mail.
  isWhole: (message: FetchMessageObject, isLastTry: boolean) =>
    [message.headers, message.internalDate, message.size].every((field) => field !== undefined) &&
    (isLastTry || message.bodyStructure !== undefined),
};

/** Reads mails of the open folder: their structure, header and the start of their texts. */
export async function readMails(
  client: ImapFlow,
  mailUids: readonly number[],
  mailPlace: MailSource,
): Promise<ReadMails> {
  const result: ReadMails = { uidMails: [], skippedMails: [], goneUids: [] };
  let messages: FetchMessageObject[] = [];
  for await (const fetchedMail of fetchMails(client, mailUids, headerQuery)) {
    if (fetchedMail.message === null) noteMissing(result, fetchedMail);
    else messages.push(fetchedMail.message);
  }
  for (const readStep of readSteps) {
    const nextMessages: FetchMessageObject[] = [];
    for await (const message of withTexts(client, messages, { ...readStep, result })) {
      const parsedMail = await readMessage(message, { mailPlace, endByte: readStep.endByte });
      if (readStep.isEnough(message, parsedMail)) result.uidMails.push([message.uid, parsedMail]);
      else nextMessages.push(message);
    }
    messages = nextMessages;
  }
  return result;
}

function noteMissing(
  { skippedMails, goneUids }: ReadMails,
  { uid, missingReason }: Omit<FetchedMail, "message">,
) {
  if (missingReason === null) goneUids.push(uid);
  else skippedMails.push({ uid, missingReason });
}

/** A range of bytes of some parts. */
interface TextRange {
  readonly keysOf: (message: FetchMessageObject) => readonly string[];
  /** The first byte, and the one behind the last. */
  readonly startByte: number;
  readonly endByte: number;
}

interface ReadStep extends TextRange {
  /** Whether a record needs no further step. */
  readonly isEnough: (message: FetchMessageObject, parsedMail: Mail) => boolean;
}

function isTextCut({ bodyParts = new Map<string, Buffer>() }: FetchMessageObject): boolean {
  return [...bodyParts.values()].some((partText) => partText.length >= TEXT_BYTES);
}

/** The start of the texts, more of them if they lack a snippet, and the whole text if no part is one. */
const readSteps: readonly ReadStep[] = [
  {
    keysOf: ({ bodyStructure }) => textParts(bodyStructure),
    startByte: 0,
    endByte: TEXT_BYTES,
    isEnough: (message, { snippet }) =>
      snippet.length >= SNIPPET_LENGTH || (snippet !== "" && !isTextCut(message)),
  },
  {
    keysOf: (message) => (isTextCut(message) ? textParts(message.bodyStructure) : []),
    startByte: TEXT_BYTES,
    endByte: MOST_BYTES,
    isEnough: (_, { snippet }) => snippet !== "",
  },
  { keysOf: () => ["TEXT"], startByte: 0, endByte: MOST_BYTES, isEnough: () => true },
];

/** Adds the bytes of a range to the texts of mails: one command for mails with the same parts. */
async function* withTexts(
  client: ImapFlow,
  messages: readonly FetchMessageObject[],
  { result, keysOf: partsOf, startByte, endByte }: TextRange & { readonly result: ReadMails },
): AsyncGenerator<FetchMessageObject> {
  const messageByUid = new Map(messages.map((message) => [message.uid, message]));
  for (const [parts, group] of Map.groupBy(messages, (message) => partsOf(message).join(","))) {
    const partKeys = parts.split(",").filter((partKey) => partKey !== "");
    if (partKeys.length === 0) yield* group;
    else {
      const bodyParts = partKeys.map((partKey) => ({
        key: partKey,
        start: startByte,
        maxLength: endByte - startByte,
      }));
      const isWhole = ({ bodyParts }: FetchMessageObject) =>
        partKeys.every((partKey) => bodyParts?.has(partKey.toLowerCase()) === true);
      const uids = group.map(({ uid }) => uid);
      for await (const fetchedMail of fetchMails(client, uids, { query: { bodyParts }, isWhole })) {
        const message = messageByUid.get(fetchedMail.uid);
        if (fetchedMail.message === null || message === undefined) noteMissing(result, fetchedMail);
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
  const idParts = [emailId || messageId.replace(/[<>\s]/g, ""), receivedTime, size];
  return `mail-${hash("sha256", idParts.join("\n")).slice(0, 24)}`;
}

/** Returns when a mailbox received a mail, in ISO 8601; undefined for a time that is none. */
export function receivedAt({
  internalDate,
}: Pick<FetchMessageObject, "internalDate">): string | undefined {
  // Texts are dates that the client cannot parse, and NIL is read as the year 1970.
  const isValidTime = internalDate instanceof Date && internalDate.getTime() > 0;
  const timeText = isValidTime ? internalDate.toISOString() : "";
  return /^\d{4}-/.test(timeText) ? timeText : undefined;
}

/** Returns the numbers of the text parts of a mail, without attachments. */
export function textParts(rootPart: MessageStructureObject | undefined): string[] {
  return (hasBoundaries(rootPart) ? listLeaves(rootPart) : [])
    .filter(({ type, disposition }) => {
      return /^text\b/i.test(type) && disposition?.toLowerCase() !== "attachment";
    })
    .slice(0, MOST_TEXTS)
    .map(({ part = "1" }) => part);
}

/** Returns whether a structure is known, and its parts can be written again. */
function hasBoundaries(
  bodyPart: MessageStructureObject | undefined,
): bodyPart is MessageStructureObject {
  if (bodyPart === undefined || !isMultipart(bodyPart)) return bodyPart !== undefined;
  return (
    Boolean(bodyPart.parameters?.["boundary"]) && (bodyPart.childNodes ?? []).every(hasBoundaries)
  );
}

function listLeaves(bodyPart: MessageStructureObject): MessageStructureObject[] {
  return isMultipart(bodyPart) ? (bodyPart.childNodes ?? []).flatMap(listLeaves) : [bodyPart];
}

// A forwarded mail has child nodes too, and is an attachment.
function isMultipart({ type }: MessageStructureObject): boolean {
  return type.toLowerCase().startsWith("multipart/");
}

interface RecordOptions {
  readonly mailPlace: MailSource;
  /** How many bytes of each text were asked for. */
  readonly endByte: number;
}

/** Returns the record of a mail whose structure, header and texts are read. */
async function readMessage(
  message: FetchMessageObject,
  { mailPlace, endByte }: RecordOptions,
): Promise<Mail> {
  const { headers, bodyStructure, bodyParts = new Map<string, Buffer>() } = message;
  // A server has NIL for a header that it cannot read.
  const headerBytes = endHeader(
    headers && headers.includes(":") ? headers : Buffer.from("Subject:"),
  );
  const partTexts = new Map(
    Array.from(bodyParts, ([partKey, partText]) => [partKey, toWholeLines(partText, endByte)]),
  );
  const isWhole = partTexts.has("text") || !hasBoundaries(bodyStructure);
  const bodyTexts = isWhole ? partTexts.values() : toBodyBytes(bodyStructure, partTexts);
  // A text that cannot be parsed leaves the header.
  const parsedMail = await parseMessage(Buffer.concat([headerBytes, ...bodyTexts])).catch(() =>
    parseMessage(headerBytes),
  );
  const receivedTime = receivedAt(message);
  const id = mailId({
    ...message,
    messageId: parsedMail.headers?.messageId,
    received: receivedTime,
  });
  const arrivalTime = receivedTime?.slice(0, 10) ?? "1970-01-01";
  const mailSource = { ...mailPlace, uid: message.uid };
  const mailRecord = toMail(
    { ...parsedMail, id, received: receivedTime ?? parsedMail.received },
    { arrived: arrivalTime, source: mailSource },
  );
  const isNoMail = isFolderData(headerBytes.toString("latin1"));
  return isNoMail ? { ...mailRecord, from: "", subject: "", snippet: "" } : mailRecord;
}

/** Adds the blank line that some servers leave out; without it the text would belong to the header. */
function endHeader(headerBytes: Buffer): Buffer {
  const isEnded = /\n\r?\n$/.test(headerBytes.toString("latin1", headerBytes.length - 3));
  return isEnded ? headerBytes : Buffer.concat([headerBytes, Buffer.from("\r\n\r\n")]);
}

// Cut at a line end, since an encoded character or group may have been cut.
function toWholeLines(partText: Buffer, endByte: number): Buffer {
  const lineEnd = partText.lastIndexOf("\n") + 1;
  const isLongLine = partText.length - lineEnd > LINE_BYTES;
  return partText.length < endByte || isLongLine
    ? partText
    : partText.subarray(0, lineEnd || undefined);
}

/** Writes the parts again, each with the start of its text; attachments have none. */
function* toBodyBytes(
  bodyPart: MessageStructureObject,
  partTexts: ReadonlyMap<string, Buffer>,
): Generator<Buffer> {
  if (!isMultipart(bodyPart)) {
    yield partTexts.get(bodyPart.part ?? "1") ?? Buffer.of();
    return;
  }
  const boundary = bodyPart.parameters?.["boundary"] ?? "";
  for (const childPart of bodyPart.childNodes ?? []) {
    yield Buffer.from(`\r\n--${boundary}\r\n${toHeader(childPart)}\r\n\r\n`);
    yield* toBodyBytes(childPart, partTexts);
  }
  yield Buffer.from(`\r\n--${boundary}--\r\n`);
}

function toHeader(bodyPart: MessageStructureObject): string {
  const { type, parameters, encoding, id, disposition, dispositionParameters } = bodyPart;
  const { charset = "", ...otherParameters } = parameters ?? {};
  // Servers write us-ascii for a part that names no charset.
  const namedFields = /^us-ascii$/i.test(charset) ? otherParameters : parameters;
  const headerLines = [withParameters(`Content-Type: ${type}`, namedFields)];
  if (encoding !== undefined) headerLines.push(`Content-Transfer-Encoding: ${encoding}`);
  if (id !== undefined) headerLines.push(`Content-ID: ${id}`);
  if (disposition !== undefined) {
    headerLines.push(withParameters(`Content-Disposition: ${disposition}`, dispositionParameters));
  }
  return headerLines.map((headerLine) => headerLine.replace(/\p{Cc}/gu, " ")).join("\r\n");
}

function withParameters(
  lineStart: string,
  parameters: Readonly<Record<string, string>> = {},
): string {
  const parameterTexts = Object.entries(parameters).map(([parameterName, parameterValue]) => {
    return `; ${parameterName}="${parameterValue.replace(/["\\]/g, "\\$&")}"`;
  });
  return lineStart + parameterTexts.join("");
}
