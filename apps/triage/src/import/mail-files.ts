import { peek } from "evaluator-runs/source";
import type { MailSource } from "../input/mail-schema.ts";
import type { FoundMail, NotRead, SourceFile } from "./found-mail.ts";
import { gmailMails } from "./gmail-dump.ts";
import { type MailFormat, mailFormats } from "./mail-formats.ts";
import { isMboxText, mboxMails } from "./mbox.ts";
import { headerPattern } from "./message-parts.ts";
import { fileDay, parseMessage } from "./parse-message.ts";

/** The bytes of a message that are read; the rest belongs to attachments. */
const MESSAGE_BYTES = 1024 * 1024;

/** How a data file of Outlook begins, and a mail of Outlook. */
const [DATA_FILE, OLE_SIGNATURE] = ["!BDN", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"];
/** The name of a stream in an Outlook file: `__substg1.0_`, in UTF-16. */
const OUTLOOK_STREAM = "_\0_\0s\0u\0b\0s\0t\0g\0";

/**
 * Finds the mails of a file that is no archive: an mbox, one mail, or a Gmail API dump. With a `place`,
 * those from its byte on, whole.
 */
export async function* readMailFile(
  sourceFile: SourceFile,
  { start, all }: { readonly start: Buffer; readonly all: AsyncIterable<Buffer> },
  mailPlace?: MailSource,
): AsyncGenerator<FoundMail | NotRead> {
  const skippedLength = leadLength(start);
  const rawStart = start.subarray(skippedLength).toString("latin1");
  // The line ends of old Macintosh programs.
  const hasOldNewlines = rawStart.includes("\r") && !rawStart.includes("\n");
  const startText = hasOldNewlines ? rawStart.replaceAll("\r", "\n") : rawStart;
  const contentStart = mailPlace?.offset ?? skippedLength;
  const content = skipBytes(hasOldNewlines ? withNewlines(all) : all, contentStart);
  const mostBytes = mailPlace === undefined ? MESSAGE_BYTES : Infinity;
  const missingText = goneFile(sourceFile.name);
  if (missingText !== null) {
    yield {
      name: sourceFile.name,
      reason: `it is ${missingText}`,
      mayBeMail: false,
      goneReason: missingText,
    };
    return;
  }
  const mailFormat = formats.find((formatName) =>
    readers[formatName].matchesText(startText, sourceFile),
  );
  if (mailFormat === undefined) yield notRead(sourceFile, startText);
  else
    yield* readers[mailFormat].readMails(sourceFile, {
      content,
      contentStart,
      mostBytes,
      allChunks: all,
      startText,
    });
}

/** The content of a file from the mail at a byte on, of which `most` bytes are read; and all of it. */
interface FileContent {
  readonly content: AsyncIterable<Buffer>;
  readonly contentStart: number;
  readonly mostBytes: number;
  readonly allChunks: AsyncIterable<Buffer>;
  readonly startText: string;
}

/** The reader of a format. */
interface MailReader {
  /** Whether a file has the format, by its first text and its name. */
  readonly matchesText: (startText: string, sourceFile: SourceFile) => boolean;
  readonly readMails: (
    sourceFile: SourceFile,
    content: FileContent,
  ) => AsyncGenerator<FoundMail | NotRead>;
}

const readers: Readonly<Record<MailFormat, MailReader>> = {
  mbox: {
    matchesText: isMboxText,
    readMails: (sourceFile, { content, contentStart, mostBytes }) =>
      orNothing(sourceFile, mboxMails(sourceFile, content, { at: contentStart, most: mostBytes })),
  },
  emlx: {
    matchesText: (startText) =>
      /^\d{1,10}[ \t]{0,20}\r?\n[!-9;-~]{1,100}[ \t]{0,20}:/.test(startText),
    async *readMails(sourceFile, { content, mostBytes }) {
      yield await emlxMail(sourceFile, content, mostBytes);
    },
  },
  message: {
    matchesText: (startText, { name }) => isMessage(startText) || /\.emlx?$/i.test(name),
    async *readMails(sourceFile, { content, mostBytes }) {
      yield await message(sourceFile, content, mostBytes);
    },
  },
  gmailDump: {
    matchesText: isGmailDump,
    readMails: (sourceFile, { allChunks, startText }) =>
      orNothing(sourceFile, gmailMails(sourceFile, allChunks, startText)),
  },
};

const formats = Object.keys(mailFormats) as MailFormat[];

/** Returns whether a name is that of a deleted mail in MH or Maildir, or of one whose delivery has not ended. */
function goneFile(nameInSource: string): NonNullable<NotRead["goneReason"]> | null {
  if (/(?:^|\/),\d{1,10}$|[:;!]2,[A-Za-z]{0,50}T[A-Za-z]{0,50}$/.test(nameInSource))
    return "deleted";
  return /(?:^|\/)tmp\/\d{1,20}\.[^/]{1,255}$/.test(nameInSource) ? "unfinished" : null;
}

async function* withNewlines(contentChunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const contentChunk of contentChunks)
    yield Buffer.from(contentChunk.toString("latin1").replaceAll("\r", "\n"), "latin1");
}

// The byte order mark and empty lines before the first line.
function leadLength(firstBytes: Buffer): number {
  const markLength = firstBytes.toString("latin1", 0, 3) === "\xef\xbb\xbf" ? 3 : 0;
  const startText = firstBytes.subarray(markLength).toString("latin1");
  return markLength + startText.length - startText.replace(/^[ \t\r\n]+/, "").length;
}

async function* skipBytes(
  contentChunks: AsyncIterable<Buffer>,
  skippedLength: number,
): AsyncGenerator<Buffer> {
  let remainingCount = skippedLength;
  for await (const contentChunk of contentChunks) {
    yield contentChunk.subarray(remainingCount);
    remainingCount = Math.max(0, remainingCount - contentChunk.length);
  }
}

async function* orNothing({ name }: SourceFile, foundMails: AsyncIterable<FoundMail | NotRead>) {
  let isEmpty = true;
  for await (const foundMail of foundMails) {
    isEmpty = false;
    yield foundMail;
  }
  if (isEmpty) yield { name, reason: "it has no mails", mayBeMail: false };
}

/** A mail has at least two of these headers; a program's settings may have one. */
const mailHeader =
  /^(?:from|to|cc|date|subject|received|return-path|delivered-to|message-id|mime-version|reply-to|content-type)[ \t]{0,20}:/i;

// A line or two may be broken, as spam has them.
function isMessage(startText: string): boolean {
  const startLines = startText.split("\n", 100);
  const blankLine = startLines.findIndex((startLine) => startLine.trim() === "");
  const headLines = blankLine === -1 ? startLines : startLines.slice(0, blankLine);
  const headers = headLines.filter(
    (headLine) => headerPattern.test(headLine) || /^(?:[ \t]|>From )/.test(headLine),
  );
  const isHeader = headerPattern.test(startText) && headers.length >= headLines.length * 0.8;
  return isHeader && headLines.filter((headLine) => mailHeader.test(headLine)).length >= 2;
}

function isGmailDump(startText: string, { diskPath, prefix }: SourceFile): boolean {
  if (!/^[[{]/.test(startText.replaceAll("\0", ""))) return false;
  const isMessage = /"(?:payload|labelIds|internalDate|threadId)"|"raw"\s{0,9}:\s{0,9}"/;
  if (isMessage.test(startText.replaceAll("\0", ""))) return true;
  return diskPath !== null && prefix === "" && !isInputFile(startText);
}

function isInputFile(startText: string): boolean {
  return ["from", "subject", "date", "snippet"].every((fieldName) =>
    startText.includes(`"${fieldName}"`),
  );
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

function notRead({ name }: SourceFile, startText: string): NotRead {
  const [, mailboxKind, conversion] =
    otherMailboxes.find(([startPattern]) => startPattern.test(startText)) ?? [];
  if (mailboxKind !== undefined)
    return {
      name,
      reason: `it is ${mailboxKind}; ${conversion}`,
      mayBeMail: true,
    };
  if (startText.startsWith(DATA_FILE)) {
    const advice = "make .eml files of it with readpst -e";
    return {
      name,
      reason: `it is a data file of Outlook (.pst, .ost); ${advice}`,
      mayBeMail: true,
    };
  }
  if (
    startText.startsWith(OLE_SIGNATURE) &&
    (/\.msg$/i.test(name) || startText.includes(OUTLOOK_STREAM))
  ) {
    const advice = 'open it in the new Outlook and choose "Download as EML"';
    return {
      name,
      reason: `it is a mail of Outlook (.msg); ${advice}`,
      mayBeMail: true,
    };
  }
  if (/^[[{]/.test(startText) && isInputFile(startText)) {
    const reason = "it is an input file; triage it without an import";
    return { name, reason, mayBeMail: false };
  }
  return {
    name,
    reason: startText === "" ? "it is empty" : "it is no mail",
    mayBeMail: false,
  };
}

async function message(sourceFile: SourceFile, content: AsyncIterable<Buffer>, mostBytes: number) {
  return toFound(sourceFile, await readStart(content, mostBytes));
}

/** Reads a file of Apple Mail: the length of the message, the message, and the program's own data. */
async function emlxMail(sourceFile: SourceFile, content: AsyncIterable<Buffer>, mostBytes: number) {
  const fileBytes = await readStart(content, mostBytes);
  const mailStart = fileBytes.indexOf("\n") + 1;
  const mailEnd = mailStart + Number(fileBytes.toString("latin1", 0, mailStart));
  const [, flagBits = "0"] =
    /<key>flags<\/key>\s{0,100}<integer>(\d{1,15})</.exec(fileBytes.toString("latin1", mailEnd)) ??
    [];
  // The second bit: deleted.
  if (Math.floor(Number(flagBits) / 2) % 2 === 1)
    return {
      name: sourceFile.name,
      reason: "it is deleted",
      mayBeMail: false,
      goneReason: "deleted" as const,
    };
  return toFound(sourceFile, fileBytes.subarray(mailStart, mailEnd));
}

function toFound(sourceFile: SourceFile, mailBytes: Buffer): FoundMail {
  const { name } = sourceFile;
  const parseMail = async () => await parseMessage(mailBytes);
  return {
    name,
    source: { file: name },
    arrived: fileDay(sourceFile),
    mailBytes,
    read: parseMail,
  };
}

async function readStart(contentChunks: AsyncIterable<Buffer>, mostBytes: number): Promise<Buffer> {
  const { start, close } = await peek(contentChunks, mostBytes);
  await close();
  return start.subarray(0, mostBytes);
}
