import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import PostalMime, { type Address, decodeWords, type Email } from "postal-mime";
import { type FoundMail, type ImportedMail, ImportProblem, type SourceFile } from "./found-mail.ts";
import { keptHeaders } from "./kept-headers.ts";
import { toVisibleText } from "./visible-text.ts";

/** How much of a part is parsed, in bytes: a snippet takes less. */
const PART_BYTES = 64 * 1024;
/** How many lines are parsed: the parser takes 8 µs for each, and a mail of 1 MB has 15,000. */
const MOST_LINES = 32 * 1024;
/** No line of a mail is longer (RFC 5322, section 2.1.1); one of a page may be. */
const LINE_BYTES = 1000;

/** How a header begins; older programs put blanks before the colon (RFC 5322, section 4.5). */
export const header = /^[!-9;-~]{1,100}[ \t]{0,20}:/;
const windows1252 = new TextDecoder("windows-1252");
const [NEWLINE, RETURN] = [10, 13];
const LINE_END = Buffer.from("\n");

/** Parses one message (RFC 5322, MIME). @throws ImportProblem if it has no header. */
export async function parseMessage(bytes: Buffer): Promise<ImportedMail> {
  // A forwarded mail inside is not the sender's text.
  const email = await PostalMime.parse(withReadableHeaders(withShortParts(bytes)), {
    forceRfc822Attachments: true,
  });
  if (!email.headerLines.some(({ line }) => header.test(line)))
    throw new ImportProblem("it has no header");
  return {
    id: email.messageId?.replace(/[<>\s]/g, "") || `mail-${hash("sha256", bytes).slice(0, 24)}`,
    date: dateOf(email),
    received: parseTime(receivedOf(email)),
    from: printAddress(email.from),
    subject: email.subject ?? "",
    text: encryptionNote(email) ?? toVisibleText(email),
    labels: labelsOf(email),
    headers: keptHeaders((name) => valuesOf(email, name)),
    extra: extraOf(email),
  };
}

function extraOf(email: Email): ImportedMail["extra"] {
  return {
    attachments: email.attachments
      .filter(({ disposition, related }) => disposition !== "inline" && related !== true)
      .map(({ filename, mimeType }) => ({ name: filename ?? "", type: mimeType })),
    listId: decodeWords(valueOf(email, "list-id")),
    authenticationResults: valueOf(email, "authentication-results"),
  };
}

/** Returns the first header of a name: it was added last, and the sender may have written others. */
function valueOf(email: Email, name: string): string {
  return valuesOf(email, name)[0] ?? "";
}

function valuesOf({ headers }: Email, name: string): string[] {
  return headers.filter(({ key }) => key === name).map(({ value }) => value);
}

/** Returns the day in a header, in the sender's zone; null if there is none. */
function parseDay(text: string): string | null {
  const written = text.slice(0, 200);
  const named = /\b(\d{1,2})[ -]([A-Z][a-z]{2})[a-z]{0,6}[ -](\d{4})\b/.exec(written);
  const [iso] = /\b\d{4}-\d\d-\d\d(?=T|$)/.exec(written) ?? [];
  const day = named ? `${named[1]} ${named[2]} ${named[3]}` : (iso ?? written.replace(zone, "$1"));
  // In UTC, or it would be the day on this machine.
  return toDay(new Date(`${day} UTC`));
}

/** A time of day, and the zone behind it. */
const zone =
  /(\d{1,2}:\d\d(?::\d\d(?:\.\d{1,9})?)?(?: ?[AP]M)?) ?(?:(?:GMT|UTC?)? ?[+-]\d\d:?(?:\d\d)?|[A-Z]{1,5})\b/;

/** Returns the time that a header names, in ISO 8601; in a zone that is not known its day alone counts. */
export function parseTime(text: string): string | null {
  const written = text.slice(0, 200);
  const time = new Date(zone.test(written) ? written : `${written} UTC`);
  if (toDay(time) !== null) return time.toISOString();
  const day = parseDay(text);
  return day === null ? null : `${day}T00:00:00.000Z`;
}

/** Returns the day of a time in UTC; null for a year that does not have four digits. */
function toDay(time: Date): string | null {
  if (Number.isNaN(time.getTime())) return null;
  return /^\d{4}-\d\d-\d\d/.exec(time.toISOString())?.[0] ?? null;
}

/** Returns the day that a file was written, in UTC, for a mail that names none itself. */
export function fileDay({ modifiedAt }: Pick<SourceFile, "modifiedAt">): FoundMail["arrived"] {
  return toDay(modifiedAt) ?? "1970-01-01";
}

function dateOf(email: Email): ImportedMail["date"] {
  return parseDay(valueOf(email, "date")) ?? parseDay(receivedOf(email));
}

// The date follows the last semicolon.
function receivedOf(email: Email): string {
  return valueOf(email, "received").split(";").at(-1)?.trim() ?? "";
}

function printAddress(from: Address | undefined): string {
  if (from === undefined) return "";
  if (from.name === "") return from.address ?? "";
  return from.address === undefined ? from.name : `${from.name} <${from.address}>`;
}

// Google Takeout writes the labels of a mail into this header.
function labelsOf({ headers }: Email): string[] | null {
  const labels = headers.find(({ key }) => key === "x-gmail-labels")?.value;
  if (labels === undefined) return null;
  const names = decodeWords(labels).split(",");
  return names.map((label) => label.replaceAll('"', "").trim());
}

/** Returns a note in place of an encrypted text; null for other mails. */
function encryptionNote(email: Email): string | null {
  const { text = "", attachments } = email;
  const type = valueOf(email, "content-type").toLowerCase();
  const isSigned = type.includes("signed-data");
  const isEncrypted =
    type.startsWith("multipart/encrypted") ||
    /^application\/(?:x-)?pkcs7-mime/.test(type) ||
    attachments.some(({ mimeType }) => mimeType === "application/pgp-encrypted") ||
    text.trimStart().startsWith("-----BEGIN PGP MESSAGE-----");
  if (!isEncrypted) return null;
  return isSigned
    ? "(This mail is sealed in its signature; its text cannot be read here.)"
    : "(This mail is encrypted; its text cannot be read here.)";
}

/** Returns a message with the start of each part, cut at a line end; a part ends at what may be a boundary. */
function withShortParts(message: Buffer): Buffer {
  if (message.length <= PART_BYTES) return message;
  const bodyStart = headerEnd(message);
  const kept: Buffer[] = [];
  let [room, at] = [PART_BYTES, 0];
  for (const line of linesOf(message)) {
    if (kept.length >= MOST_LINES) break;
    if (at < bodyStart || line.toString("latin1", 0, 2) === "--") room = PART_BYTES;
    if (room >= line.length) kept.push(line);
    else if (room >= LINE_BYTES) kept.push(line.subarray(0, room), LINE_END);
    room -= line.length;
    at += line.length;
  }
  return Buffer.concat(kept);
}

/**
 * Returns a message with headers in UTF-8: other raw bytes are read as windows-1252, also in the text
 * if no part names a charset.
 */
function withReadableHeaders(message: Buffer): Buffer {
  if (isUtf8(message)) return message;
  const end = headerEnd(message);
  const body = message.subarray(end);
  const namesCharset = /charset/i.test(message.toString("latin1"));
  return Buffer.concat([toUtf8(message.subarray(0, end)), namesCharset ? body : toUtf8(body)]);
}

// Line by line, since each was written by another program.
function toUtf8(bytes: Buffer): Buffer {
  const lines = Array.from(linesOf(bytes), (line) =>
    isUtf8(line) ? line : Buffer.from(windows1252.decode(line)),
  );
  return Buffer.concat(lines);
}

/** Returns the lines of a text with their ends; the last one may have none. */
export function* linesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(NEWLINE, start) + 1 || bytes.length;
    yield bytes.subarray(start, end);
    start = end;
  }
}

function headerEnd(message: Buffer): number {
  for (let at = message.indexOf(NEWLINE); at !== -1; at = message.indexOf(NEWLINE, at + 1)) {
    const next = message[at + 1];
    if (next === NEWLINE || (next === RETURN && message[at + 2] === NEWLINE)) return at + 1;
  }
  return message.length;
}
