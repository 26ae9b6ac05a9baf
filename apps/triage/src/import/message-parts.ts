import PostalMime from "postal-mime";
import { decodeHeader, decodeText, knownCharset } from "./charsets.ts";

interface ParsedHeader {
  readonly value: string;
  readonly parsed: { readonly value: string; readonly params: Readonly<Record<string, string>> };
}

/** A part of a mail; one that is no multipart has bytes, without their transfer encoding. */
export interface MessagePart {
  readonly contentType: ParsedHeader & { readonly multipart: string | false };
  readonly contentDisposition: ParsedHeader;
  readonly contentId?: string;
  readonly content: ArrayBuffer | null;
  readonly childNodes: readonly MessagePart[];
}

/**
 * The parser without its last step: it would read texts by their labels alone, and join plain texts
 * and HTML each from the other.
 */
class PartParser extends PostalMime {
  declare readonly root: MessagePart;
  async collectNode(): Promise<void> {}
}

/** Parses the parts of a message. A boundary that no line has is replaced by the one that is there. */
export async function parseParts(message: Buffer, bodyStart: number): Promise<MessagePart> {
  const root = await parseRoot(message);
  if (!isMultipart(root) || root.childNodes.length > 0) return root;
  const body = message.toString("latin1", bodyStart, bodyStart + 100_000);
  const [, boundary] = /^--([^\r\n"\\]{1,200})\r?\ncontent-/im.exec(body) ?? [];
  if (boundary === undefined) return root;
  const type = /^multipart\/[\w-]{1,40}/i.exec(root.contentType.value)?.[0] ?? "multipart/mixed";
  const header = Buffer.from(`Content-Type: ${type}; boundary="${boundary}"\n`, "latin1");
  return await parseRoot(Buffer.concat([header, message]));
}

async function parseRoot(message: Buffer): Promise<MessagePart> {
  const parser = new PartParser();
  await parser.parse(message);
  return parser.root;
}

/** Returns whether a part is made of others, also if its type has no semicolon after it. */
function isMultipart({ contentType }: MessagePart): boolean {
  return /^multipart\//i.test(contentType.value.trim());
}

/** Returns the type of a part in lower case; `text/plain` if its header is none (RFC 2045, section 5.2). */
export function typeOf({ contentType }: MessagePart): string {
  const written = contentType.parsed.value.trim();
  return (
    /^[\w.+-]{1,80}\/[\w.+-]{1,100}/.exec(written)?.[0] ??
    (written === "html" ? "text/html" : "text/plain")
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
export function* leavesOf(
  part: MessagePart,
  around: readonly MessagePart[] = [],
): Generator<{ part: MessagePart; around: readonly MessagePart[] }> {
  if (part.childNodes.length === 0) yield { part, around };
  for (const child of part.childNodes) yield* leavesOf(child, [...around, part]);
}

/** Returns whether a mail program shows a part as text below the header. */
export function isText(part: MessagePart): boolean {
  if (part.contentDisposition.parsed.value === "attachment") return false;
  return isMultipart(part) || isShownType(typeOf(part), fileNameOf(part));
}

function fileNameOf({ contentDisposition, contentType }: MessagePart): string {
  return contentDisposition.parsed.params["filename"] ?? contentType.parsed.params["name"] ?? "";
}

/** Returns the attachments of a mail, without its texts and the images in them. */
export function attachmentsOf(
  root: MessagePart,
): { name: string; type: string; isShown: boolean }[] {
  return Array.from(leavesOf(root))
    .filter(({ part }) => !isText(part))
    .map(({ part, around }) => {
      const isRelated =
        part.contentId !== undefined &&
        around.some(({ contentType }) => contentType.multipart === "related");
      const name = decodeHeader(
        fileNameOf(part).replace(/[^\0-\xff]/gu, (letter) =>
          Buffer.from(letter).toString("latin1"),
        ),
      );
      return {
        name,
        type: typeOf(part),
        isShown: isRelated || part.contentDisposition.parsed.value === "inline",
      };
    });
}

/** Returns the charset that a part's header names; empty if it is none that is known. */
export function charsetOf({ contentType }: MessagePart): string {
  const named =
    contentType.parsed.params["charset"] ??
    /charset\s{0,9}=\s{0,9}"?([\w.:-]{1,60})/i.exec(contentType.value)?.[1];
  return knownCharset(named ?? "");
}

const meta = /<meta[^<>]{1,300}charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,60})/i;

/** Returns the text of a part, in the charset that its bytes, its header, its page or its mail name. */
export function textOf(part: MessagePart, mailCharset: string): string {
  const bytes = Buffer.from(part.content ?? new ArrayBuffer(0));
  const page =
    typeOf(part) === "text/html" ? (meta.exec(bytes.toString("latin1", 0, 4000))?.[1] ?? "") : "";
  const text = decodeText(bytes, charsetOf(part) || knownCharset(page), mailCharset);
  const { format = "", delsp = "" } = part.contentType.parsed.params;
  const isJoined = /^flowed$/i.test(format) && /^yes$/i.test(delsp);
  return isJoined ? text.replace(/ \r?\n/g, "") : text;
}
