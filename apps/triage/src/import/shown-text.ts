import {
  listAttachments,
  toCharset,
  isText,
  listLeaves,
  type MessagePart,
  describeText,
  toType,
} from "./message-parts.ts";
import { toVisibleText, visiblePlainText } from "./visible-text.ts";

/** The text of a mail as a mail program shows it. */
interface ShownText {
  readonly text: string;
  /** Whether its alternatives have other words than each other, as phishing has them. */
  readonly textsDiffer: boolean;
}

/** Returns the text that a mail program shows, or a note that names the content of a mail without text. */
export function toShownText(root: MessagePart): ShownText {
  const mailCharset = toMailCharset(root);
  const shownText = shownIn(root, mailCharset);
  const note = encryptionNote(root, shownText.text);
  if (note !== null) return { text: note, textsDiffer: false };
  return shownText.text === "" ? { ...shownText, text: attachmentNote(root) } : shownText;
}

/** Returns the first charset that a part of a mail names; empty if none does. */
export function toMailCharset(root: MessagePart): string {
  return (
    Array.from(listLeaves(root), ({ part }) => toCharset(part)).find((name) => name !== "") ?? ""
  );
}

function shownIn(part: MessagePart, mailCharset: string): ShownText {
  if (part.childNodes.length === 0)
    return { text: isText(part) ? leafText(part, mailCharset) : "", textsDiffer: false };
  if (part.contentType.multipart === "alternative") return shownAlternative(part, mailCharset);
  const texts = part.childNodes.map((child) => shownIn(child, mailCharset));
  const text = texts
    .map((shownText) => shownText.text)
    .filter((shownText) => shownText !== "")
    .join("\n");
  return { text, textsDiffer: texts.some((shownText) => shownText.textsDiffer) };
}

// The last one that can be shown (RFC 2046, section 5.1.4); an invitation is the last one too.
function shownAlternative({ childNodes }: MessagePart, mailCharset: string): ShownText {
  const rankedMessageParts = [
    ...childNodes.filter(isCalendar),
    ...childNodes.filter((part) => !isCalendar(part)),
  ];
  let shownText: ShownText = { text: "", textsDiffer: false };
  for (const part of rankedMessageParts.toReversed()) {
    const other = shownIn(part, mailCharset);
    if (shownText.text === "") shownText = other;
    else if (!isCalendar(part) && differs(other.text, shownText.text))
      return { ...shownText, textsDiffer: true };
  }
  return shownText;
}

function isCalendar(part: MessagePart): boolean {
  return toType(part) === "text/calendar";
}

const COMPARED_WORDS = 60;

/** Returns whether most words of a text are not in another; a request to show HTML is no text of a mail. */
function differs(text: string, other: string): boolean {
  if (text.length < 500 && /\bhtml\b|browser/i.test(text)) return false;
  const words =
    text
      .slice(0, 2000)
      .toLowerCase()
      .replace(/https?:\S+/g, " ")
      .match(/\p{L}{3,}/gu)
      ?.slice(0, COMPARED_WORDS) ?? [];
  const all = other.toLowerCase();
  const common = words.filter((word) => all.includes(word)).length;
  return words.length > 0 && common < words.length / 3;
}

function leafText(part: MessagePart, mailCharset: string): string {
  const [type, text] = [toType(part), describeText(part, mailCharset)];
  if (type === "text/calendar") return eventText(text);
  const isMarkup = /^text\/(?:html|enriched|richtext)$/.test(type);
  return isMarkup ? toVisibleText(text) : visiblePlainText(text);
}

/** Returns the words of an invitation (RFC 5545); a text that is none is unchanged. */
function eventText(text: string): string {
  if (!/^\s{0,100}BEGIN:VCALENDAR/i.test(text)) return text.trim();
  const lines = text
    .replace(/\r?\n[ \t]/g, "")
    .matchAll(/^(?:SUMMARY|LOCATION|DESCRIPTION)(?:;[^:\n]{0,500})?:(.*)/gim);
  return Array.from(lines, ([, words = ""]) => words.replace(/\\n/gi, " ").replace(/\\(.)/g, "$1"))
    .join(" ")
    .trim();
}

/** Returns a note in place of an encrypted text; null for other mails. */
function encryptionNote(root: MessagePart, text: string): string | null {
  const type = root.contentType.value.toLowerCase();
  const isEncrypted =
    type.startsWith("multipart/encrypted") ||
    /^application\/(?:x-)?pkcs7-mime/.test(type) ||
    listAttachments(root).some((part) => part.type === "application/pgp-encrypted") ||
    text.trimStart().startsWith("-----BEGIN PGP MESSAGE-----");
  if (!isEncrypted) return null;
  return type.includes("signed-data")
    ? "(This mail is sealed in its signature; its text cannot be read here.)"
    : "(This mail is encrypted; its text cannot be read here.)";
}

const attachmentNotes: readonly (readonly [RegExp, string])[] = [
  [
    /^message\/(?:delivery-status|disposition-notification|feedback-report)$/,
    "(This mail is a report on another mail.)",
  ],
  [/^message\//, "(This mail holds a forwarded mail alone.)"],
  [
    /^application\/(?:vnd\.)?ms-tnef$/,
    "(The text of this mail is in winmail.dat, a format of Outlook.)",
  ],
  [/^application\/pdf$/, "(This mail holds a PDF file alone.)"],
  [/^image\//, "(This mail shows images alone.)"],
  [/^(?:audio|video|application|text)\//, "(This mail holds attached files alone.)"],
];

function attachmentNote(root: MessagePart): string {
  const parts = listAttachments(root).map(({ name, type }) =>
    /^winmail\.dat$/i.test(name) ? "application/ms-tnef" : type,
  );
  return attachmentNotes.find(([types]) => parts.some((type) => types.test(type)))?.[1] ?? "";
}
