import PostalMime from "postal-mime";
import { decodeHeader, decodeText, fromQuotedPrintable, knownCharset } from "./charsets.ts";

/** How a header begins; older programs put blanks before the colon (RFC 5322, section 4.5). */
export const header = /^[!-9;-~]{1,100}[ \t]{0,20}:/;
/** How much of a text is read, in bytes: a snippet takes less. */
const TEXT_BYTES = 64 * 1024;
/** No line of a mail is longer (RFC 5322, section 2.1.1); one of a page may be. */
const LINE_BYTES = 1000;
/** More header lines and boundaries than a mail has; the parser takes a microsecond for each. */
const MOST_LINES = 32 * 1024;
const [NEWLINE, RETURN] = [10, 13];

interface ParsedHeader {
  readonly value: string;
  readonly parsed: { readonly value: string; readonly params: Readonly<Record<string, string>> };
}

/** A part of a mail; one that is no multipart has bytes, in their transfer encoding. */
export interface MessagePart {
  readonly contentType: ParsedHeader & { readonly multipart: string | false };
  readonly contentDisposition: ParsedHeader;
  readonly contentTransferEncoding: { readonly encoding: string };
  readonly contentId?: string;
  readonly content: Buffer | null;
  readonly childNodes: readonly MessagePart[];
}

/** A part that the parser is reading. */
interface OpenPart {
  readonly state: "header" | "body" | "finished";
  readonly feed: (bytes: Buffer) => void;
  setupContentDecoder: () => void;
  contentDecoder: BodyBytes | null;
}

/** Finds the bytes of a body in place of a decoder, since most parts are never shown. */
class BodyBytes {
  #bytes: Buffer = Buffer.of();

  /** Takes the next bytes of a message, which follow the last ones in memory. */
  update(next: Buffer): void {
    const start = this.#bytes.length === 0 ? next.byteOffset : this.#bytes.byteOffset;
    this.#bytes = Buffer.from(next.buffer, start, next.byteOffset + next.length - start);
  }

  finalize(): Buffer {
    return this.#bytes;
  }
}

/** The parser's reading of headers and boundaries alone; the lines of bodies are not looked at. */
class PartParser extends PostalMime {
  declare readonly root: MessagePart & OpenPart;
  declare readonly currentNode: OpenPart;
  declare readonly processLine: (line: Buffer, isLast: boolean) => Promise<void>;
  declare readonly finalize: () => Promise<void>;

  #header: HeaderEnd = { lastField: -1, end: 0, hasText: true };

  async parseParts(message: Buffer): Promise<MessagePart> {
    let at = 0;
    for (let lines = 0; at < message.length && lines < MOST_LINES; lines += 1) {
      let part = this.#openPart();
      if (part.state === "header" && this.#isText(message, at)) {
        await this.processLine(Buffer.of(), false);
        part = this.#openPart();
      }
      const isBody = part.state === "body" && message.toString("latin1", at, at + 2) !== "--";
      const end = message.indexOf(isBody ? "\n--" : "\n", at) + 1 || message.length;
      const bytes = message.subarray(at, end);
      if (isBody) part.feed(bytes);
      else await this.processLine(withoutEnd(bytes), false);
      at = end;
    }
    this.#openPart();
    await this.finalize();
    return this.root;
  }

  /** Returns whether a line of a header belongs to the text: the blank line between them is missing. */
  #isText(message: Buffer, at: number): boolean {
    const line = message.toString("latin1", at, at + 122);
    if (/^(?:[ \t\r\n]|--)/.test(line) || header.test(line)) return false;
    if (at >= this.#header.end) this.#header = headerEndIn(message, at);
    const isBehindBlanks = /\n[ \t]{1,20}\r?\n$/.test(message.toString("latin1", at - 24, at));
    return at > this.#header.lastField && (isBehindBlanks || !this.#header.hasText);
  }

  #openPart(): OpenPart {
    const part = this.currentNode;
    part.setupContentDecoder = () => (part.contentDecoder = new BodyBytes());
    return part;
  }
}

/** The place of the last field of a header, its end, and whether a text follows it. */
interface HeaderEnd {
  readonly lastField: number;
  readonly end: number;
  readonly hasText: boolean;
}

function headerEndIn(message: Buffer, start: number): HeaderEnd {
  let [lastField, at] = [-1, start];
  // A boundary ends a part.
  while (at < message.length && !/^(?:\r*\n|--)/.test(message.toString("latin1", at, at + 3))) {
    if (header.test(message.toString("latin1", at, at + 122))) lastField = at;
    at = message.indexOf(NEWLINE, at) + 1 || message.length;
  }
  const hasText = /^\s*(?!--)\S/.test(message.toString("latin1", at, at + LINE_BYTES));
  return { lastField, end: at, hasText };
}

function withoutEnd(line: Buffer): Buffer {
  let end = line.length;
  while (line[end - 1] === NEWLINE || line[end - 1] === RETURN) end -= 1;
  return line.subarray(0, end);
}

/** Parses the parts of a message. A boundary that no line has is replaced by the one that is there. */
export async function parseParts(message: Buffer, bodyStart: number): Promise<MessagePart> {
  const root = await new PartParser().parseParts(message);
  if (!isMultipart(root) || root.childNodes.length > 0) return root;
  const body = message.toString("latin1", bodyStart, bodyStart + 100_000);
  const [, boundary] = /^--([^\r\n"\\]{1,200})\r?\ncontent-/im.exec(body) ?? [];
  if (boundary === undefined) return root;
  const type = /^multipart\/[\w-]{1,40}/i.exec(root.contentType.value)?.[0] ?? "multipart/mixed";
  const header = Buffer.from(`Content-Type: ${type}; boundary="${boundary}"\n`, "latin1");
  return await new PartParser().parseParts(Buffer.concat([header, message]));
}

/** Returns whether a part is made of others, also if its type has no semicolon after it. */
function isMultipart({ contentType }: MessagePart): boolean {
  return /^multipart\//i.test(contentType.value.trim());
}

/** Returns the type of a part in lower case; `text/plain` if its header is none (RFC 2045, section 5.2). */
export function toType({ contentType }: MessagePart): string {
  const typeText = contentType.parsed.value.trim();
  return (
    /^[\w.+-]{1,80}\/[\w.+-]{1,100}/.exec(typeText)?.[0] ??
    (typeText === "html" ? "text/html" : "text/plain")
  );
}

/** Texts for programs, and the short form of a mail for some mail programs. */
const otherTexts =
  /^text\/(?:x-amp-html|css|csv|directory|x?-?vcard|xml|javascript|rfc822-headers)$/;

/** Returns whether mail programs show a part of this type, which is no attachment, as text. */
function isShownType(type: string, fileName = ""): boolean {
  if (/^text\/(?:plain|html)$/i.test(type)) return true;
  return /^text\//i.test(type) && fileName === "" && !otherTexts.test(type.toLowerCase());
}

/** Returns the parts of a mail that are no multipart, with the multiparts around them. */
export function* listLeaves(
  part: MessagePart,
  around: readonly MessagePart[] = [],
): Generator<{ part: MessagePart; around: readonly MessagePart[] }> {
  if (part.childNodes.length === 0) yield { part, around };
  for (const child of part.childNodes) yield* listLeaves(child, [...around, part]);
}

/** Returns whether a mail program shows a part as text below the header. */
export function isText(part: MessagePart): boolean {
  if (part.contentDisposition.parsed.value === "attachment") return false;
  return isMultipart(part) || isShownType(toType(part), toFileName(part));
}

function toFileName({ contentDisposition, contentType }: MessagePart): string {
  return contentDisposition.parsed.params["filename"] ?? contentType.parsed.params["name"] ?? "";
}

/** Returns the attachments of a mail, without its texts and the images in them. */
export function listAttachments(
  root: MessagePart,
): { name: string; type: string; isShown: boolean }[] {
  return Array.from(listLeaves(root))
    .filter(({ part }) => !isText(part))
    .map(({ part, around }) => {
      const isRelated =
        part.contentId !== undefined &&
        around.some(({ contentType }) => contentType.multipart === "related");
      const name = decodeHeader(
        toFileName(part).replace(/[^\0-\xff]/gu, (letter) =>
          Buffer.from(letter).toString("latin1"),
        ),
      );
      return {
        name,
        type: toType(part),
        isShown: isRelated || part.contentDisposition.parsed.value === "inline",
      };
    });
}

/** Returns the charset that a part's header names; empty if it is none that is known. */
export function toCharset({ contentType }: MessagePart): string {
  const givenName =
    contentType.parsed.params["charset"] ??
    /charset\s{0,9}=\s{0,9}"?([\w.:-]{1,60})/i.exec(contentType.value)?.[1];
  return knownCharset(givenName ?? "");
}

const meta =
  /(?:<meta[^<>]{1,300}charset|<\?xml[^<>]{1,100}encoding)\s{0,9}=\s{0,9}["']?([\w.:-]{1,60})/i;

/** Returns the text of a part, in the charset that its bytes, its header, its page or its mail name. */
export function describeText(part: MessagePart, mailCharset: string): string {
  const bytes = listBytes(part);
  const page =
    toType(part) === "text/html" ? (meta.exec(bytes.toString("latin1", 0, 4000))?.[1] ?? "") : "";
  const text = decodeText(bytes, toCharset(part) || knownCharset(page), mailCharset);
  const { format = "", delsp = "" } = part.contentType.parsed.params;
  const isJoined = /^flowed$/i.test(format) && /^yes$/i.test(delsp);
  return isJoined ? text.replace(/ \r?\n/g, "") : text;
}

/** Returns the start of a text without its transfer encoding. */
function listBytes({ content, contentTransferEncoding: { encoding } }: MessagePart): Buffer {
  const start = (content ?? Buffer.of()).subarray(0, TEXT_BYTES);
  const lineEnd = start.lastIndexOf(NEWLINE) + 1;
  // An encoded character may have been cut; a line of a page may be a long one.
  const isCut = start.length === TEXT_BYTES && start.length - lineEnd < LINE_BYTES;
  const bytes = isCut ? start.subarray(0, lineEnd) : start;
  if (encoding === "quoted-printable") return fromQuotedPrintable(bytes.toString("latin1"));
  if (encoding !== "base64") return bytes;
  // Some programs pad each line.
  const units = bytes.toString("latin1").split(/=+/);
  return Buffer.concat(units.map((unit) => Buffer.from(unit, "base64")));
}
