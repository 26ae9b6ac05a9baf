import { isAscii, isUtf8 } from "node:buffer";
import names from "./charset-names.json" with { type: "json" };

/** Names that `TextDecoder` does not have, without their separators. */
const aliases: Readonly<Record<string, string>> = names;
/** Charsets in which a text may be UTF-8 by chance, or in which letters have no byte above 127. */
const manyBytes = /^(?:gb|big5|shift|euc|iso-2022|utf-16|replacement)/;
/** Labels that do not identify the charset of bytes above 127. */
const noKnowledge = /ascii|^ansi_x3|unknown|^(?:8bit|binary|default|none|utf-?7)$/;

type Decoder = InstanceType<typeof TextDecoder>;
const utf8Decoder = new TextDecoder("utf-8");
const decoders = new Map<string, Decoder | null>();

/** Returns the decoder of a charset label, also of one that is written in another way; null if it is not known. */
function findDecoder(charsetLabel: string): Decoder | null {
  const charsetName = charsetLabel
    .toLowerCase()
    .replace(/^["'\s]+|["'\s]+$/g, "")
    .slice(0, 60);
  if (charsetName === "" || noKnowledge.test(charsetName)) return null;
  const knownDecoder = decoders.get(charsetName);
  if (knownDecoder !== undefined || decoders.size > 1000) return knownDecoder ?? null;
  const compact = charsetName
    .replace(/^(?:x-ms-|x-|cs)|[\s._-]/g, "")
    .replace(/^(?:windows|ms|ibm)(?=\d)/, "cp");
  const standard = compact
    .replace(/^cp(?=125\d$)/, "windows-")
    .replace(/^iso8859(?=\d)/, "iso-8859-");
  const decoder = [charsetName, aliases[compact] ?? standard]
    .map(newDecoder)
    .find((candidate) => candidate !== null);
  decoders.set(charsetName, decoder ?? null);
  return decoder ?? null;
}

function newDecoder(charsetLabel: string): Decoder | null {
  try {
    return new TextDecoder(charsetLabel);
  } catch {
    return null;
  }
}

const japaneseDecoder = new TextDecoder("iso-2022-jp");
const windowsDecoder = new TextDecoder("windows-1252");

const windowsLetters = windowsDecoder.decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));

/** Returns a text whose UTF-8 bytes were read as letters of windows-1252 as the text that it is. */
export function withoutWrongLabel(decodedText: string): string {
  // Another letter becomes 255, a byte that UTF-8 never has.
  const textBytes = Uint8Array.from(decodedText, (letter) => windowsLetters.indexOf(letter));
  return isUtf8(textBytes) ? utf8Decoder.decode(textBytes) : decodedText;
}

/** Returns a label if it names a charset that is known, else an empty text. */
export function knownCharset(charsetLabel: string): string {
  return findDecoder(charsetLabel) === null ? "" : charsetLabel;
}

/**
 * Decodes a text: by its bytes if they are UTF-8, else by its label, else by the charset of its mail.
 * A wrong byte harms its own place alone.
 */
export function decodeText(textBytes: Uint8Array, charsetLabel = "", mailCharset = ""): string {
  const namedDecoder = findDecoder(charsetLabel);
  const decoder =
    namedDecoder?.encoding.startsWith("utf-16") === true && !textBytes.includes(0)
      ? null
      : namedDecoder;
  const isPlain = decoder === null || !manyBytes.test(decoder.encoding);
  if (isPlain && isAscii(textBytes)) return asciiText(textBytes);
  if (isPlain && (isUtf8(textBytes) || isNearlyUtf8(textBytes, decoder)))
    return utf8Decoder.decode(textBytes);
  if (decoder !== null && decoder.encoding !== "utf-8") {
    const labelledText = decoder.decode(textBytes);
    // Some programs write the label alone, and their texts are UTF-8.
    const isWrongLabel =
      labelledText.includes("\ufffd") && !isAscii(textBytes) && isUtf8(textBytes);
    return isWrongLabel ? utf8Decoder.decode(textBytes) : labelledText;
  }
  const decodedText = findDecoder(mailCharset)?.decode(textBytes);
  // A letter of another script in a Latin word: it was not written in the charset of the mail.
  const isOther =
    decodedText === undefined ||
    decodedText.includes("\ufffd") ||
    /[a-z](?!\p{Script=Latin})\p{L}/iu.test(decodedText);
  return isOther ? windowsDecoder.decode(textBytes) : decodedText;
}

// Japanese programs of old write their letters in seven bits, without a label.
function asciiText(textBytes: Uint8Array): string {
  const latinText = Buffer.from(textBytes).toString("latin1");
  return latinText.includes("\u001b$") ? japaneseDecoder.decode(textBytes) : latinText;
}

// A cut or damaged letter among more that are whole; with the label of UTF-8, beside one.
function isNearlyUtf8(textBytes: Uint8Array, labelledDecoder: Decoder | null): boolean {
  const startText = utf8Decoder.decode(textBytes.subarray(0, 4000));
  const damagedCount =
    labelledDecoder?.encoding === "utf-8" ? 0 : startText.split("\ufffd").length - 1;
  return (startText.match(/[^\0-\x7f\ufffd]/gu)?.length ?? 0) > damagedCount;
}

/** An encoded word of a header (RFC 2047); text of other programs may have blanks in it, and the last one be cut. */
export const encodedWord =
  /=\?([^?\s]{1,60})\?([QB])\?([^?]{0,4000}(?=\?=)|[^?\s<>]{1,4000}$)(?:\?=)?/gi;

/** Decodes a header whose characters are its bytes: encoded words, and raw text between them. */
export function decodeHeader(headerText: string, mailCharset = ""): string {
  const wordGroups: { charsetLabel: string; byteParts: Buffer[] }[] = [];
  const addBytes = (charsetLabel: string, partBytes: Buffer) => {
    const lastGroup = wordGroups.at(-1);
    // A letter may begin in one word and end in the next.
    if (lastGroup !== undefined && lastGroup.charsetLabel === charsetLabel && charsetLabel !== "")
      lastGroup.byteParts.push(partBytes);
    else wordGroups.push({ charsetLabel, byteParts: [partBytes] });
  };
  let position = 0;
  for (const {
    0: wholeWord,
    1: charset = "",
    2: encoding = "",
    3: encodedText = "",
    index,
  } of headerText.matchAll(encodedWord)) {
    const between = headerText.slice(position, index);
    if (position === 0 || between.trim() !== "") addBytes("", Buffer.from(between, "latin1"));
    addBytes(charset.split("*")[0]?.toLowerCase() ?? "", wordBytes(encodedText, encoding));
    position = index + wholeWord.length;
  }
  addBytes("", Buffer.from(headerText.slice(position), "latin1"));
  return wordGroups
    .map(({ charsetLabel, byteParts }) => {
      const decodePart = (partBytes: Buffer) => decodeText(partBytes, charsetLabel, mailCharset);
      const joinedText = decodePart(Buffer.concat(byteParts));
      // Words with shifts, as Japanese ones have them, are whole.
      return joinedText.includes("\ufffd") ? byteParts.map(decodePart).join("") : joinedText;
    })
    .join("");
}

function wordBytes(encodedText: string, encoding: string): Buffer {
  if (/b/i.test(encoding)) return Buffer.from(encodedText, "base64");
  return fromQuotedPrintable(encodedText.replaceAll("_", " ").replace(/=\s(?=[\da-f]{2})/gi, "="));
}

/** Returns the bytes of a text in quoted-printable (RFC 2045, section 6.7). */
export function fromQuotedPrintable(encodedText: string): Buffer {
  const byteText = encodedText
    .replace(/=[ \t\r]{0,20}\n/g, "")
    .replace(/=([\da-f]{2})/gi, (_, hexDigits: string) =>
      String.fromCharCode(Number.parseInt(hexDigits, 16)),
    );
  return Buffer.from(byteText, "latin1");
}
