import { peek } from "evaluator-runs/source";
import type { MailSource } from "../input/mail-schema.ts";
import type { FoundMail, NotRead, SourceFile } from "./found-mail.ts";
import { gmailMails } from "./gmail-dump.ts";
import { isMbox, mboxMails } from "./mbox.ts";
import { fileDay, header, parseMessage } from "./parse-message.ts";

/** The bytes of a message that are read; the rest belongs to attachments. */
const MESSAGE_BYTES = 1024 * 1024;

/** How a data file of Outlook begins, and a mail of Outlook. */
const [DATA_FILE, OLE] = ["!BDN", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"];
/** The name of a stream in an Outlook file: `__substg1.0_`, in UTF-16. */
const OUTLOOK_STREAM = "_\0_\0s\0u\0b\0s\0t\0g\0";

/**
 * Finds the mails of a file that is no archive: an mbox, one mail, or a Gmail API dump. With a `place`,
 * those from its byte on, whole.
 */
export async function* readMailFile(
  file: SourceFile,
  { start, all }: { readonly start: Buffer; readonly all: AsyncIterable<Buffer> },
  place?: MailSource,
): AsyncGenerator<FoundMail | NotRead> {
  const lead = leadLength(start);
  const text = start.subarray(lead).toString("latin1");
  const at = place?.offset ?? lead;
  const content = skip(all, at);
  const most = place === undefined ? MESSAGE_BYTES : Infinity;
  if (isMbox(text)) yield* orNothing(file, mboxMails(file, content, { at, most, text }));
  else if (/^\d{1,10}[ \t]{0,20}\r?\n[!-9;-~]{1,100}[ \t]{0,20}:/.test(text))
    yield await emlx(file, content, most);
  else if (isMessage(text) || /\.emlx?$/i.test(file.name)) yield await message(file, content, most);
  else if (isGmailDump(text, file)) yield* orNothing(file, gmailMails(file, all));
  else yield notRead(file, text);
}

// The byte order mark and empty lines before the first line.
function leadLength(start: Buffer): number {
  const mark = start.toString("latin1", 0, 3) === "\xef\xbb\xbf" ? 3 : 0;
  const text = start.subarray(mark).toString("latin1");
  return mark + text.length - text.replace(/^[ \t\r\n]+/, "").length;
}

async function* skip(chunks: AsyncIterable<Buffer>, length: number): AsyncGenerator<Buffer> {
  let left = length;
  for await (const chunk of chunks) {
    yield chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
  }
}

async function* orNothing({ name }: SourceFile, mails: AsyncIterable<FoundMail>) {
  let isEmpty = true;
  for await (const mail of mails) {
    isEmpty = false;
    yield mail;
  }
  if (isEmpty) yield { name, reason: "it has no mails", isMail: false };
}

/** A mail has at least two of these headers; a program's settings may have one. */
const mailHeader =
  /^(?:from|to|cc|date|subject|received|return-path|delivered-to|message-id|mime-version|reply-to|content-type)[ \t]{0,20}:/i;

// A line or two may be broken, as spam has them.
function isMessage(text: string): boolean {
  const lines = text.split("\n", 100);
  const end = lines.findIndex((line) => line.trim() === "");
  const head = end === -1 ? lines : lines.slice(0, end);
  const headers = head.filter((line) => header.test(line) || /^(?:[ \t]|>From )/.test(line));
  const isHead = header.test(text) && headers.length >= head.length * 0.8;
  return isHead && head.filter((line) => mailHeader.test(line)).length >= 2;
}

function isGmailDump(text: string, { path, prefix }: SourceFile): boolean {
  if (!/^[[{]/.test(text.replaceAll("\0", ""))) return false;
  const isMessage = /"(?:payload|labelIds|internalDate)"|"raw"\s{0,9}:\s{0,9}"/;
  if (isMessage.test(text.replaceAll("\0", ""))) return true;
  return path !== null && prefix === "" && !isInputFile(text);
}

function isInputFile(text: string): boolean {
  return ["from", "subject", "date", "snippet"].every((field) => text.includes(`"${field}"`));
}

function notRead({ name }: SourceFile, text: string): NotRead {
  if (text.startsWith(DATA_FILE)) {
    const advice = "make .eml files of it with readpst -e and import their folder";
    return { name, reason: `it is a data file of Outlook (.pst, .ost); ${advice}`, isMail: true };
  }
  if (text.startsWith(OLE) && (/\.msg$/i.test(name) || text.includes(OUTLOOK_STREAM))) {
    const advice = 'open it in the new Outlook and choose "Download as EML"';
    return { name, reason: `it is a mail of Outlook (.msg); ${advice}`, isMail: true };
  }
  if (/^[[{]/.test(text) && isInputFile(text)) {
    const reason = "it is an input file already; triage it without an import";
    return { name, reason, isMail: false };
  }
  return { name, reason: text === "" ? "it is empty" : "it is no mail", isMail: false };
}

async function message(file: SourceFile, content: AsyncIterable<Buffer>, most: number) {
  return toFound(file, await readStart(content, most));
}

/** Reads a file of Apple Mail: the length of the message, the message, and the program's own data. */
async function emlx(file: SourceFile, content: AsyncIterable<Buffer>, most: number) {
  const bytes = await readStart(content, most);
  const begin = bytes.indexOf("\n") + 1;
  const length = Number(bytes.toString("latin1", 0, begin));
  return toFound(file, bytes.subarray(begin, begin + length));
}

function toFound(file: SourceFile, bytes: Buffer): FoundMail {
  const { name } = file;
  const read = async () => await parseMessage(bytes);
  return { name, source: { file: name }, arrived: fileDay(file), bytes, read };
}

async function readStart(chunks: AsyncIterable<Buffer>, most: number): Promise<Buffer> {
  const { start, close } = await peek(chunks, most);
  await close();
  return start.subarray(0, most);
}
