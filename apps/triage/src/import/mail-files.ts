import { peek } from "evaluator-runs/source";
import type { MailSource } from "../input/mail-schema.ts";
import type { FoundMail, NotRead, SourceFile } from "./found-mail.ts";
import { gmailMails } from "./gmail-dump.ts";
import { type MailFormat, mailFormats } from "./mail-formats.ts";
import { isMbox, mboxMails } from "./mbox.ts";
import { header } from "./message-parts.ts";
import { fileDay, parseMessage } from "./parse-message.ts";

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
  const startText = start.subarray(lead).toString("latin1");
  // The line ends of old Macintosh programs.
  const isOld = startText.includes("\r") && !startText.includes("\n");
  const text = isOld ? startText.replaceAll("\r", "\n") : startText;
  const at = place?.offset ?? lead;
  const content = skip(isOld ? withNewlines(all) : all, at);
  const most = place === undefined ? MESSAGE_BYTES : Infinity;
  const missingText = goneFile(file.name);
  if (missingText !== null) {
    yield { name: file.name, reason: `it is ${missingText}`, isMail: false, gone: missingText };
    return;
  }
  const format = formats.find((name) => readers[name].fits(text, file));
  if (format === undefined) yield notRead(file, text);
  else yield* readers[format].read(file, { content, at, most, all, text });
}

/** The content of a file from the mail at a byte on, of which `most` bytes are read; and all of it. */
interface FileContent {
  readonly content: AsyncIterable<Buffer>;
  readonly at: number;
  readonly most: number;
  readonly all: AsyncIterable<Buffer>;
  readonly text: string;
}

/** The reader of a format. */
interface MailReader {
  /** Whether a file has the format, by its first text and its name. */
  readonly fits: (text: string, file: SourceFile) => boolean;
  readonly read: (file: SourceFile, content: FileContent) => AsyncGenerator<FoundMail | NotRead>;
}

const readers: Readonly<Record<MailFormat, MailReader>> = {
  mbox: {
    fits: isMbox,
    read: (file, { content, at, most }) => orNothing(file, mboxMails(file, content, { at, most })),
  },
  emlx: {
    fits: (text) => /^\d{1,10}[ \t]{0,20}\r?\n[!-9;-~]{1,100}[ \t]{0,20}:/.test(text),
    async *read(file, { content, most }) {
      yield await emlx(file, content, most);
    },
  },
  message: {
    fits: (text, { name }) => isMessage(text) || /\.emlx?$/i.test(name),
    async *read(file, { content, most }) {
      yield await message(file, content, most);
    },
  },
  gmailDump: {
    fits: isGmailDump,
    read: (file, { all, text }) => orNothing(file, gmailMails(file, all, text)),
  },
};

const formats = Object.keys(mailFormats) as MailFormat[];

/** Returns whether a name is that of a deleted mail in MH or Maildir, or of one whose delivery has not ended. */
function goneFile(name: string): NonNullable<NotRead["gone"]> | null {
  if (/(?:^|\/),\d{1,10}$|[:;!]2,[A-Za-z]{0,50}T[A-Za-z]{0,50}$/.test(name)) return "deleted";
  return /(?:^|\/)tmp\/\d{1,20}\.[^/]{1,255}$/.test(name) ? "unfinished" : null;
}

async function* withNewlines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks)
    yield Buffer.from(chunk.toString("latin1").replaceAll("\r", "\n"), "latin1");
}

// The byte order mark and empty lines before the first line.
function leadLength(start: Buffer): number {
  const mark = start.toString("latin1", 0, 3) === "\xef\xbb\xbf" ? 3 : 0;
  const text = start.subarray(mark).toString("latin1");
  return mark + text.length - text.replace(/^[ \t\r\n]+/, "").length;
}

async function* skip(chunks: AsyncIterable<Buffer>, length: number): AsyncGenerator<Buffer> {
  let remainingCount = length;
  for await (const chunk of chunks) {
    yield chunk.subarray(remainingCount);
    remainingCount = Math.max(0, remainingCount - chunk.length);
  }
}

async function* orNothing({ name }: SourceFile, mails: AsyncIterable<FoundMail | NotRead>) {
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
  const isMessage = /"(?:payload|labelIds|internalDate|threadId)"|"raw"\s{0,9}:\s{0,9}"/;
  if (isMessage.test(text.replaceAll("\0", ""))) return true;
  return path !== null && prefix === "" && !isInputFile(text);
}

function isInputFile(text: string): boolean {
  return ["from", "subject", "date", "snippet"].every((field) => text.includes(`"${field}"`));
}

/** Mailbox formats that are not read: the first bytes, the name, and the program that converts it. */
const otherMailboxes: readonly (readonly [start: RegExp, kind: string, advice: string])[] = [
  [
    new RegExp(`^${String.fromCharCode(1).repeat(4)}\n`),
    "an MMDF mailbox",
    "save its mails into an mbox with mutt -f",
  ],
  [
    /^\*mbx\*\r?\n/,
    "a mailbox of Alpine and UW IMAP (mbx)",
    "copy it into an mbox with mailutil of uw-mailutils",
  ],
  [/^BABYL OPTIONS:/, "a Babyl mailbox", "make an mbox of it with M-x unrmail of Emacs"],
  [
    /^2 M[\da-f]{1,8} C[\da-f]{1,8}\n/,
    "a mailbox of Dovecot (dbox)",
    "make a Maildir of it with doveadm backup",
  ],
];

function notRead({ name }: SourceFile, text: string): NotRead {
  const [, kind, way] = otherMailboxes.find(([start]) => start.test(text)) ?? [];
  if (kind !== undefined)
    return { name, reason: `it is ${kind}; ${way} and import that`, isMail: true };
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
  const end = begin + Number(bytes.toString("latin1", 0, begin));
  const [, flags = "0"] =
    /<key>flags<\/key>\s{0,100}<integer>(\d{1,15})</.exec(bytes.toString("latin1", end)) ?? [];
  // The second bit: deleted.
  if (Math.floor(Number(flags) / 2) % 2 === 1)
    return { name: file.name, reason: "it is deleted", isMail: false, gone: "deleted" as const };
  return toFound(file, bytes.subarray(begin, end));
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
