import { isAscii, isUtf8 } from "node:buffer";
import names from "./charset-names.json" with { type: "json" };

/** Names that `TextDecoder` does not have, without their separators. */
const aliases: Readonly<Record<string, string>> = names;
/** Charsets in which a text may be UTF-8 by chance, or in which letters have no byte above 127. */
const manyBytes = /^(?:gb|big5|shift|euc|iso-2022|utf-16|replacement)/;
/** Labels that do not identify the charset of bytes above 127. */
const noKnowledge = /ascii|^ansi_x3|unknown|^(?:8bit|binary|default|none|utf-?7)$/;

type Decoder = InstanceType<typeof TextDecoder>;
const utf8 = new TextDecoder("utf-8");
const decoders = new Map<string, Decoder | null>();

/** Returns the decoder of a charset label, also of one that is written in another way; null if it is not known. */
function findDecoder(label: string): Decoder | null {
  const name = label
    .toLowerCase()
    .replace(/^["'\s]+|["'\s]+$/g, "")
    .slice(0, 60);
  if (name === "" || noKnowledge.test(name)) return null;
  const knownDecoder = decoders.get(name);
  if (knownDecoder !== undefined || decoders.size > 1000) return knownDecoder ?? null;
  const compact = name
    .replace(/^(?:x-ms-|x-|cs)|[\s._-]/g, "")
    .replace(/^(?:windows|ms|ibm)(?=\d)/, "cp");
  const standard = compact
    .replace(/^cp(?=125\d$)/, "windows-")
    .replace(/^iso8859(?=\d)/, "iso-8859-");
  const decoder = [name, aliases[compact] ?? standard].map(newDecoder).find((one) => one !== null);
  decoders.set(name, decoder ?? null);
  return decoder ?? null;
}

function newDecoder(label: string): Decoder | null {
  try {
    return new TextDecoder(label);
  } catch {
    return null;
  }
}

const japanese = new TextDecoder("iso-2022-jp");
const windows1252 = new TextDecoder("windows-1252");

/** Returns a label if it names a charset that is known, else an empty text. */
export function knownCharset(label: string): string {
  return findDecoder(label) === null ? "" : label;
}

/**
 * Decodes a text: by its bytes if they are UTF-8, else by its label, else by the charset of its mail.
 * A wrong byte harms its own place alone.
 */
export function decodeText(bytes: Uint8Array, label = "", mailCharset = ""): string {
  const namedDecoder = findDecoder(label);
  const decoder =
    namedDecoder?.encoding.startsWith("utf-16") === true && !bytes.includes(0)
      ? null
      : namedDecoder;
  const isPlain = decoder === null || !manyBytes.test(decoder.encoding);
  if (isPlain && isAscii(bytes)) return asciiText(bytes);
  if (isPlain && (isUtf8(bytes) || isNearlyUtf8(bytes, decoder))) return utf8.decode(bytes);
  if (decoder !== null && decoder.encoding !== "utf-8") return decoder.decode(bytes);
  const text = findDecoder(mailCharset)?.decode(bytes);
  // A letter of another script in a Latin word: it was not written in the charset of the mail.
  const isOther =
    text === undefined || text.includes("\ufffd") || /[a-z](?!\p{Script=Latin})\p{L}/iu.test(text);
  return isOther ? windows1252.decode(bytes) : text;
}

// Japanese programs of old write their letters in seven bits, without a label.
function asciiText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString("latin1");
  return text.includes("\u001b$") ? japanese.decode(bytes) : text;
}

// A cut or damaged letter among more that are whole; with the label of UTF-8, beside one.
function isNearlyUtf8(bytes: Uint8Array, labelledDecoder: Decoder | null): boolean {
  const start = utf8.decode(bytes.subarray(0, 4000));
  const damagedCount = labelledDecoder?.encoding === "utf-8" ? 0 : start.split("\ufffd").length - 1;
  return (start.match(/[^\0-\x7f\ufffd]/gu)?.length ?? 0) > damagedCount;
}

/** An encoded word of a header (RFC 2047); text of other programs may have blanks in it, and the last one be cut. */
export const encodedWord =
  /=\?([^?\s]{1,60})\?([QB])\?([^?]{0,4000}(?=\?=)|[^?\s<>]{1,4000}$)(?:\?=)?/gi;

/** Decodes a header whose characters are its bytes: encoded words, and raw text between them. */
export function decodeHeader(header: string, mailCharset = ""): string {
  const pieces: { label: string; bytes: Buffer[] }[] = [];
  const add = (label: string, bytes: Buffer) => {
    const last = pieces.at(-1);
    // A letter may begin in one word and end in the next.
    if (last !== undefined && last.label === label && label !== "") last.bytes.push(bytes);
    else pieces.push({ label, bytes: [bytes] });
  };
  let at = 0;
  for (const { 0: word, 1: charset = "", 2: encoding = "", 3: text = "", index } of header.matchAll(
    encodedWord,
  )) {
    const between = header.slice(at, index);
    if (at === 0 || between.trim() !== "") add("", Buffer.from(between, "latin1"));
    add(charset.split("*")[0]?.toLowerCase() ?? "", wordBytes(text, encoding));
    at = index + word.length;
  }
  add("", Buffer.from(header.slice(at), "latin1"));
  return pieces
    .map(({ label, bytes }) => {
      const decode = (part: Buffer) => decodeText(part, label, mailCharset);
      const joinedText = decode(Buffer.concat(bytes));
      // Words with shifts, as Japanese ones have them, are whole.
      return joinedText.includes("\ufffd") ? bytes.map(decode).join("") : joinedText;
    })
    .join("");
}

function wordBytes(text: string, encoding: string): Buffer {
  if (/b/i.test(encoding)) return Buffer.from(text, "base64");
  return fromQuotedPrintable(text.replaceAll("_", " ").replace(/=\s(?=[\da-f]{2})/gi, "="));
}

/** Returns the bytes of a text in quoted-printable (RFC 2045, section 6.7). */
export function fromQuotedPrintable(text: string): Buffer {
  const bytes = text
    .replace(/=[ \t\r]{0,20}\n/g, "")
    .replace(/=([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1");
}
