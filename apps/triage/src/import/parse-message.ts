import { hash } from "node:crypto";
import { decodeHeader, decodeText } from "./charsets.ts";
import { type FoundMail, type ImportedMail, ImportProblem, type SourceFile } from "./found-mail.ts";
import { keptHeaders } from "./kept-headers.ts";
import { parseDay, parseTime, toDay } from "./mail-dates.ts";
import { header, listAttachments, type MessagePart, parseParts } from "./message-parts.ts";
import { senderIn } from "./sender.ts";
import { toMailCharset, toShownText } from "./shown-text.ts";

const [NEWLINE, RETURN] = [10, 13];

/** Parses one message (RFC 5322, MIME). @throws ImportProblem if it has no header. */
export async function parseMessage(bytes: Buffer): Promise<ImportedMail> {
  const message = withNewlines(bytes);
  const bodyStart = headerEnd(message);
  const headers = headersIn(message.toString("latin1", 0, bodyStart));
  if (headers.length === 0) throw new ImportProblem("it has no header");
  const root = await parseParts(message, bodyStart);
  const { text, textsDiffer } = toShownText(root);
  const charset = toMailCharset(root);
  // A copy: the import keeps all ids, and a part of a text keeps the whole in memory.
  const messageId = Buffer.from(toValue(headers, "message-id").replace(/[<>\s]/g, "")).toString();
  const headerNotes = keptHeaders((name) => listValues(headers, name).map(rawText));
  return {
    id: messageId || `mail-${hash("sha256", bytes).slice(0, 24)}`,
    date: parseDay(toValue(headers, "date")) ?? parseDay(toReceivedTime(headers)),
    received: parseTime(toReceivedTime(headers)),
    from: senderIn(listValues(headers, "from").find((value) => value !== "") ?? "", charset),
    subject: decodeHeader(toValue(headers, "subject"), charset),
    text,
    labels: findLabels(headers),
    headers: textsDiffer ? { ...headerNotes, textsDiffer } : headerNotes,
    extra: toExtra(root, headers),
  };
}

/** Returns a message with the line ends of today; those of old Macintosh programs are CR alone. */
function withNewlines(bytes: Buffer): Buffer {
  return bytes.includes(NEWLINE)
    ? bytes
    : (bytes.map((byte) => (byte === RETURN ? NEWLINE : byte)) as Buffer);
}

/** The headers of a mail in order, with names in lower case; the characters of a value are its bytes. */
type Headers = readonly { readonly name: string; readonly value: string }[];

function headersIn(head: string): Headers {
  const lines = head
    .replace(/\r?\n(?=[ \t])/g, "")
    .split("\n")
    .filter((line) => header.test(line));
  return lines.map((line) => {
    const colon = line.indexOf(":");
    const value = line
      .slice(colon + 1)
      .replace(/\r+/g, " ")
      .trim();
    return { name: line.slice(0, colon).trim().toLowerCase(), value };
  });
}

function toExtra(root: MessagePart, headers: Headers): ImportedMail["extra"] {
  return {
    attachments: listAttachments(root)
      .filter(({ isShown }) => !isShown)
      .map(({ name, type }) => ({ name, type })),
    listId: decodeHeader(toValue(headers, "list-id")),
    authenticationResults: listValues(headers, "authentication-results").join("; "),
  };
}

/** Returns the first header of a name: it was added last, and the sender may have written others. */
function toValue(headers: Headers, name: string): string {
  return listValues(headers, name)[0] ?? "";
}

function listValues(headers: Headers, name: string): string[] {
  const namedHeaders = headers.filter((line) => line.name === name);
  const values = name === "authentication-results" ? firstResults(headers) : namedHeaders;
  return values.map(({ value }) => value);
}

// One host may write several, side by side; a sender's own are further down.
function firstResults(headers: Headers): Headers {
  const rest = headers.slice(headers.findIndex(({ name }) => name === "authentication-results"));
  const end = rest.findIndex(
    ({ name }) => !/^(?:authentication-results|arc-|received-spf|x-)/.test(name),
  );
  const results = rest
    .slice(0, end === -1 ? undefined : end)
    .filter(({ name }) => name === "authentication-results");
  return results.filter(({ value }) => serverIn(value) === serverIn(results[0]?.value ?? ""));
}

function serverIn(results: string): string | undefined {
  return /^[^\s;]*/.exec(results)?.[0].toLowerCase();
}

function rawText(value: string): string {
  return decodeText(Buffer.from(value, "latin1"));
}

/** Returns the day that a file was written, in UTC, for a mail that names none itself. */
export function fileDay({ modifiedAt }: Pick<SourceFile, "modifiedAt">): FoundMail["arrived"] {
  return toDay(modifiedAt) ?? "1970-01-01";
}

// The date follows the last semicolon.
function toReceivedTime(headers: Headers): string {
  return toValue(headers, "received").split(";").at(-1)?.trim() ?? "";
}

// Google Takeout writes the labels of a mail into this header, those with a comma in quotes.
function findLabels(headers: Headers): string[] | null {
  const labels = headers.find(({ name }) => name === "x-gmail-labels");
  if (labels === undefined) return null;
  const names = decodeHeader(labels.value).match(/(?:"[^"]*"|[^,"]|"(?=[^"]*$))+/g) ?? [];
  return names.map((label) => label.replaceAll('"', "").trim());
}

function headerEnd(message: Buffer): number {
  for (let at = message.indexOf(NEWLINE); at !== -1; at = message.indexOf(NEWLINE, at + 1)) {
    let next = at + 1;
    while (message[next] === RETURN) next += 1;
    if (message[next] === NEWLINE) return at + 1;
  }
  return message.length;
}
