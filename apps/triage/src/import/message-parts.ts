import PostalMime from "postal-mime";
import {
  decodeHeader,
  decodeText,
  fromQuotedPrintable,
  knownCharset,
  withoutWrongLabel,
} from "./charsets.ts";

/** How a header begins; older programs put blanks before the colon (RFC 5322, section 4.5). */
export const headerPattern = /^[!-9;-~]{1,100}[ \t]{0,20}:/;
/** How much of a text is read, in bytes: a snippet takes less. */
const TEXT_BYTES = 64 * 1024;
/** No line of a mail is longer (RFC 5322, section 2.1.1); one of a page may be. */
const LINE_BYTES = 1000;
/** More header lines and boundaries than a mail has; the parser takes a microsecond for each. */
const MOST_LINES = 32 * 1024;
const [NEWLINE, CARRIAGE_RETURN] = [10, 13];

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
  #bodyBytes: Buffer = Buffer.of();

  /** Takes the next bytes of a message, which follow the last ones in memory. */
  update(nextBytes: Buffer): void {
    const byteStart =
      this.#bodyBytes.length === 0 ? nextBytes.byteOffset : this.#bodyBytes.byteOffset;
    this.#bodyBytes = Buffer.from(
      nextBytes.buffer,
      byteStart,
      nextBytes.byteOffset + nextBytes.length - byteStart,
    );
  }

  finalize(): Buffer {
    return this.#bodyBytes;
  }
}

/** The parser's reading of headers and boundaries alone; the lines of bodies are not looked at. */
class PartParser extends PostalMime {
  declare readonly root: MessagePart & OpenPart;
  declare readonly currentNode: OpenPart;
  declare readonly processLine: (lineBytes: Buffer, isLastLine: boolean) => Promise<void>;
  declare readonly finalize: () => Promise<void>;

  #headerEnd: HeaderEnd = { lastField: -1, endPosition: 0, hasText: true };

  async parseParts(message: Buffer): Promise<MessagePart> {
    let position = 0;
    for (let lineCount = 0; position < message.length && lineCount < MOST_LINES; lineCount += 1) {
      let openPart = this.#openPart();
      if (openPart.state === "header" && this.#isBodyText(message, position)) {
        await this.processLine(Buffer.of(), false);
        openPart = this.#openPart();
      }
      const isInBody =
        openPart.state === "body" && message.toString("latin1", position, position + 2) !== "--";
      const pieceEnd = message.indexOf(isInBody ? "\n--" : "\n", position) + 1 || message.length;
      const pieceBytes = message.subarray(position, pieceEnd);
      if (isInBody) openPart.feed(pieceBytes);
      else await this.processLine(this.#toLine(pieceBytes, openPart), false);
      position = pieceEnd;
    }
    this.#openPart();
    await this.finalize();
    return this.root;
  }

  /** Returns whether a line of a header belongs to the text: the blank line between them is missing. */
  #isBodyText(message: Buffer, position: number): boolean {
    const lineText = message.toString("latin1", position, position + 122);
    if (/^(?:[ \t\r\n]|--)/.test(lineText) || headerPattern.test(lineText)) return false;
    if (position >= this.#headerEnd.endPosition) this.#headerEnd = headerEndIn(message, position);
    const isBehindBlanks = /\n[ \t]{1,20}\r?\n$/.test(
      message.toString("latin1", position - 24, position),
    );
    return position > this.#headerEnd.lastField && (isBehindBlanks || !this.#headerEnd.hasText);
  }

  /** Returns a line without its end; the bytes of a header as letters, since the parser reads UTF-8 alone. */
  #toLine(pieceBytes: Buffer, { state }: OpenPart): Buffer {
    const lineBytes = withoutEnd(pieceBytes);
    return state === "header" ? Buffer.from(lineBytes.toString("latin1")) : lineBytes;
  }

  #openPart(): OpenPart {
    const openPart = this.currentNode;
    openPart.setupContentDecoder = () => (openPart.contentDecoder = new BodyBytes());
    return openPart;
  }
}

/** The place of the last field of a header, its end, and whether a text follows it. */
interface HeaderEnd {
  readonly lastField: number;
  readonly endPosition: number;
  readonly hasText: boolean;
}

function headerEndIn(message: Buffer, startPosition: number): HeaderEnd {
  let [lastField, position] = [-1, startPosition];
  // A boundary ends a part.
  while (
    position < message.length &&
    !/^(?:\r*\n|--)/.test(message.toString("latin1", position, position + 3))
  ) {
    if (headerPattern.test(message.toString("latin1", position, position + 122)))
      lastField = position;
    position = message.indexOf(NEWLINE, position) + 1 || message.length;
  }
  const hasText = /^\s*(?!--)\S/.test(message.toString("latin1", position, position + LINE_BYTES));
  return { lastField, endPosition: position, hasText };
}

function withoutEnd(lineBytes: Buffer): Buffer {
  let lineEnd = lineBytes.length;
  while (lineBytes[lineEnd - 1] === NEWLINE || lineBytes[lineEnd - 1] === CARRIAGE_RETURN)
    lineEnd -= 1;
  return lineBytes.subarray(0, lineEnd);
}

/** Parses the parts of a message. A boundary that no line has is replaced by the one that is there. */
export async function parseParts(message: Buffer, bodyStart: number): Promise<MessagePart> {
  const rootPart = await new PartParser().parseParts(message);
  if (!isMultipart(rootPart) || rootPart.childNodes.length > 0) return rootPart;
  const bodyText = message.toString("latin1", bodyStart, bodyStart + 100_000);
  const [, boundary] = /^--([^\r\n"\\]{1,200})\r?\ncontent-/im.exec(bodyText) ?? [];
  if (boundary === undefined) return rootPart;
  const multipartType =
    /^multipart\/[\w-]{1,40}/i.exec(rootPart.contentType.value)?.[0] ?? "multipart/mixed";
  const headerBytes = Buffer.from(
    `Content-Type: ${multipartType}; boundary="${boundary}"\n`,
    "latin1",
  );
  return await new PartParser().parseParts(Buffer.concat([headerBytes, message]));
}

/** Returns whether a part is made of others, also if its type has no semicolon after it. */
function isMultipart({ contentType }: MessagePart): boolean {
  return /^multipart\//i.test(contentType.value.trim());
}

/** Returns the type of a part in lower case; `text/plain` if its header is none (RFC 2045, section 5.2). */
export function toContentType({ contentType }: MessagePart): string {
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
function isShownType(contentType: string, fileName = ""): boolean {
  if (/^text\/(?:plain|html)$/i.test(contentType)) return true;
  return (
    /^text\//i.test(contentType) && fileName === "" && !otherTexts.test(contentType.toLowerCase())
  );
}

/** Returns the parts of a mail that are no multipart, with the multiparts around them. */
export function* listLeaves(
  messagePart: MessagePart,
  outerParts: readonly MessagePart[] = [],
): Generator<{ messagePart: MessagePart; outerParts: readonly MessagePart[] }> {
  if (messagePart.childNodes.length === 0) yield { messagePart, outerParts };
  for (const childPart of messagePart.childNodes)
    yield* listLeaves(childPart, [...outerParts, messagePart]);
}

/** Returns whether a mail program shows a part as text below the header. */
export function isTextPart(messagePart: MessagePart): boolean {
  if (messagePart.contentDisposition.parsed.value === "attachment") return false;
  return (
    isMultipart(messagePart) || isShownType(toContentType(messagePart), toFileName(messagePart))
  );
}

/** Returns the name of a part. Its characters are its bytes, unless the parser decoded it (RFC 2231). */
function toFileName({ contentDisposition, contentType }: MessagePart, mailCharset = ""): string {
  const dispositionName = contentDisposition.parsed.params["filename"];
  const fileName = dispositionName ?? contentType.parsed.params["name"] ?? "";
  const { value } = dispositionName === undefined ? contentType : contentDisposition;
  const isDecoded = /name\*(?:\d{1,9}\*)?\s{0,9}=/i.test(value);
  const byteName = isDecoded
    ? Buffer.from(withoutWrongLabel(fileName)).toString("latin1")
    : fileName;
  return decodeHeader(byteName, mailCharset);
}

/** The types that a text shows in itself: pictures, and what its page is made of. */
const embeddedTypes = /^(?:image|font)\/|^text\/css$|^application\/octet-stream$/;

/** Returns the parts of a mail that are no texts; one that `isShown` belongs to a text, and is no attachment. */
export function listAttachments(
  rootPart: MessagePart,
  mailCharset = "",
): { name: string; type: string; isShown: boolean }[] {
  return Array.from(listLeaves(rootPart))
    .filter(({ messagePart }) => !isTextPart(messagePart))
    .map(({ messagePart, outerParts }) => {
      const type = toContentType(messagePart);
      const isRelated =
        messagePart.contentId !== undefined &&
        outerParts.some(({ contentType }) => contentType.multipart === "related");
      // Some programs write this for each attachment, such as Apple Mail.
      const isInline = messagePart.contentDisposition.parsed.value === "inline";
      const name = toFileName(messagePart, mailCharset);
      const isOtherForm = name === "" && outerParts.at(-1)?.contentType.multipart === "alternative";
      const isEmbedded = isRelated
        ? embeddedTypes.test(type)
        : isInline && type.startsWith("image/");
      return { name, type, isShown: isOtherForm || isEmbedded };
    });
}

/** Returns the charset that a part's header names; empty if it is none that is known. */
export function toCharset({ contentType }: MessagePart): string {
  const givenName =
    contentType.parsed.params["charset"] ??
    /charset\s{0,9}=\s{0,9}"?([\w.:-]{1,60})/i.exec(contentType.value)?.[1];
  return knownCharset(givenName ?? "");
}

const metaCharset =
  /(?:<meta[^<>]{1,300}charset|<\?xml[^<>]{1,100}encoding)\s{0,9}=\s{0,9}["']?([\w.:-]{1,60})/i;

/** Returns the text of a part, in the charset that its bytes, its header, its page or its mail name. */
export function describeText(messagePart: MessagePart, mailCharset: string): string {
  const textBytes = listBytes(messagePart);
  const pageCharset =
    toContentType(messagePart) === "text/html"
      ? (metaCharset.exec(textBytes.toString("latin1", 0, 4000))?.[1] ?? "")
      : "";
  const partText = decodeText(
    textBytes,
    toCharset(messagePart) || knownCharset(pageCharset),
    mailCharset,
  );
  const { format = "", delsp = "" } = messagePart.contentType.parsed.params;
  const isJoined = /^flowed$/i.test(format) && /^yes$/i.test(delsp);
  return isJoined ? partText.replace(/ \r?\n/g, "") : partText;
}

/** Returns the start of a text without its transfer encoding. */
function listBytes({ content, contentTransferEncoding: { encoding } }: MessagePart): Buffer {
  const startBytes = (content ?? Buffer.of()).subarray(0, TEXT_BYTES);
  const lineEnd = startBytes.lastIndexOf(NEWLINE) + 1;
  // An encoded character may have been cut; a line of a page may be a long one.
  const isCutOff = startBytes.length === TEXT_BYTES && startBytes.length - lineEnd < LINE_BYTES;
  const wholeLines = isCutOff ? startBytes.subarray(0, lineEnd) : startBytes;
  if (encoding === "quoted-printable") return fromQuotedPrintable(wholeLines.toString("latin1"));
  if (encoding !== "base64") return wholeLines;
  // Some programs pad each line.
  const base64Units = wholeLines.toString("latin1").split(/=+/);
  return Buffer.concat(base64Units.map((base64Unit) => Buffer.from(base64Unit, "base64")));
}
