import { hash } from "node:crypto";
import { decodeHeader, decodeText } from "./charsets.ts";
import { type FoundMail, type ImportedMail, ImportProblem, type SourceFile } from "./found-mail.ts";
import { keptHeaders } from "./kept-headers.ts";
import { parseDay, parseTime, toIsoDay } from "./mail-dates.ts";
import { headerPattern, listAttachments, type MessagePart, parseParts } from "./message-parts.ts";
import { senderIn } from "./sender.ts";
import { toMailCharset, toShownText } from "./shown-text.ts";

const [NEWLINE, CARRIAGE_RETURN] = [10, 13];

/**
 * Some programs encode long ids and links, such as PHPMailer and Python's `email`. In other headers a name that
 * is encoded may have an address.
 */
const encodedHeaders = /^(?:references|in-reply-to|list-unsubscribe)$/;

/** Parses one message (RFC 5322, MIME). @throws ImportProblem if it has no header. */
export async function parseMessage(mailBytes: Buffer): Promise<ImportedMail> {
  const message = withNewlines(mailBytes);
  const bodyStart = headerEnd(message);
  const headers = headersIn(message.toString("latin1", 0, bodyStart));
  if (headers.length === 0) throw new ImportProblem("it has no header");
  const rootPart = await parseParts(message, bodyStart);
  const { text, textsDiffer } = toShownText(rootPart);
  const charset = toMailCharset(rootPart);
  // A copy: the import keeps all ids, and a part of a text keeps the whole in memory.
  const messageId = Buffer.from(toValue(headers, "message-id").replace(/[<>\s]/g, "")).toString();
  const headerNotes = keptHeaders((headerName) =>
    listValues(headers, headerName).map((headerValue) =>
      encodedHeaders.test(headerName) ? decodeHeader(headerValue) : rawText(headerValue),
    ),
  );
  return {
    id: messageId || `mail-${hash("sha256", mailBytes).slice(0, 24)}`,
    date: parseDay(toValue(headers, "date")) ?? parseDay(toReceivedTime(headers)),
    received: parseTime(toReceivedTime(headers)),
    from: senderIn(
      listValues(headers, "from").find((headerValue) => headerValue !== "") ?? "",
      charset,
    ),
    subject: decodeHeader(toValue(headers, "subject"), charset),
    text,
    labels: findLabels(headers),
    headers: textsDiffer ? { ...headerNotes, textsDiffer } : headerNotes,
    extra: toExtra(rootPart, headers, charset),
  };
}

/** Returns a message with the line ends of today; those of old Macintosh programs are CR alone. */
function withNewlines(mailBytes: Buffer): Buffer {
  return mailBytes.includes(NEWLINE)
    ? mailBytes
    : (mailBytes.map((byteValue) =>
        byteValue === CARRIAGE_RETURN ? NEWLINE : byteValue,
      ) as Buffer);
}

/** The headers of a mail in order, with names in lower case; the characters of a value are its bytes. */
type Headers = readonly { readonly headerName: string; readonly headerValue: string }[];

/** No delivery: fetchmail and getmail write when they fetched a mail from its mailbox. */
const fetchPattern = /\swith\s{1,20}\w{0,20}(?:POP3|IMAP)/i;

function headersIn(headerText: string): Headers {
  const headerLines = headerText
    .replace(/\r?\n(?=[ \t])/g, "")
    .split("\n")
    .filter((headerLine) => headerPattern.test(headerLine));
  const headers = headerLines.map((headerLine) => {
    const colonIndex = headerLine.indexOf(":");
    const headerValue = headerLine
      .slice(colonIndex + 1)
      .replace(/\r+/g, " ")
      .trim();
    return { headerName: headerLine.slice(0, colonIndex).trim().toLowerCase(), headerValue };
  });
  return headers.filter(
    ({ headerName, headerValue }) =>
      headerName !== "received" || !fetchPattern.test(headerValue.replace(/\([^()]*\)/g, "")),
  );
}

function toExtra(
  rootPart: MessagePart,
  headers: Headers,
  mailCharset: string,
): ImportedMail["extra"] {
  return {
    attachments: listAttachments(rootPart, mailCharset)
      .filter(({ isShown }) => !isShown)
      .map(({ name, type }) => ({ name, type })),
    listId: decodeHeader(toValue(headers, "list-id")),
    authenticationResults: listValues(headers, "authentication-results").join("; "),
  };
}

/** Returns the first header of a name: it was added last, and the sender may have written others. */
function toValue(headers: Headers, headerName: string): string {
  return listValues(headers, headerName)[0] ?? "";
}

function listValues(headers: Headers, headerName: string): string[] {
  const namedHeaders = headers.filter((mailHeader) => mailHeader.headerName === headerName);
  const chosenHeaders =
    headerName === "authentication-results" ? firstResults(headers) : namedHeaders;
  return chosenHeaders.map(({ headerValue }) => headerValue);
}

// One host may write several, side by side; a sender's own are further down.
function firstResults(headers: Headers): Headers {
  const laterHeaders = headers.slice(
    headers.findIndex(({ headerName }) => headerName === "authentication-results"),
  );
  const resultsEnd = laterHeaders.findIndex(
    ({ headerName }) => !/^(?:authentication-results|arc-|received-spf|x-)/.test(headerName),
  );
  const results = laterHeaders
    .slice(0, resultsEnd === -1 ? undefined : resultsEnd)
    .filter(({ headerName }) => headerName === "authentication-results");
  return results.filter(
    ({ headerValue }) => serverIn(headerValue) === serverIn(results[0]?.headerValue ?? ""),
  );
}

function serverIn(results: string): string | undefined {
  return /^[^\s;]*/.exec(results)?.[0].toLowerCase();
}

function rawText(headerValue: string): string {
  return decodeText(Buffer.from(headerValue, "latin1"));
}

/** Returns the day that a file was written, in UTC, for a mail that names none itself. */
export function fileDay({ modifiedAt }: Pick<SourceFile, "modifiedAt">): FoundMail["arrived"] {
  return toIsoDay(modifiedAt) ?? "1970-01-01";
}

// The date follows the last semicolon.
function toReceivedTime(headers: Headers): string {
  return toValue(headers, "received").split(";").at(-1)?.trim() ?? "";
}

// Google Takeout writes the labels of a mail into this header, those with a comma in quotes.
function findLabels(headers: Headers): string[] | null {
  const labelHeader = headers.find(({ headerName }) => headerName === "x-gmail-labels");
  if (labelHeader === undefined) return null;
  const labelNames =
    decodeHeader(labelHeader.headerValue).match(/(?:"[^"]*"|[^,"]|"(?=[^"]*$))+/g) ?? [];
  return labelNames.map((labelName) => labelName.replaceAll('"', "").trim());
}

function headerEnd(message: Buffer): number {
  for (
    let newlineIndex = message.indexOf(NEWLINE);
    newlineIndex !== -1;
    newlineIndex = message.indexOf(NEWLINE, newlineIndex + 1)
  ) {
    let nextIndex = newlineIndex + 1;
    while (message[nextIndex] === CARRIAGE_RETURN) nextIndex += 1;
    if (message[nextIndex] === NEWLINE) return newlineIndex + 1;
  }
  return message.length;
}
