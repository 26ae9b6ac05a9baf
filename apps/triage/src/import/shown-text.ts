import {
  listAttachments,
  toCharset,
  isTextPart,
  listLeaves,
  type MessagePart,
  describeText,
  toContentType,
} from "./message-parts.ts";
import { toVisibleText, visiblePlainText } from "./visible-text.ts";

/** The text of a mail as a mail program shows it. */
interface ShownText {
  readonly text: string;
  /** Whether its alternatives have other words than each other, as phishing has them. */
  readonly textsDiffer: boolean;
}

/** Returns the text that a mail program shows, or a note that names the content of a mail without text. */
export function toShownText(rootPart: MessagePart): ShownText {
  const mailCharset = toMailCharset(rootPart);
  const shownText = shownIn(rootPart, mailCharset);
  const noteText = encryptionNote(rootPart, shownText.text);
  if (noteText !== null) return { text: noteText, textsDiffer: false };
  return shownText.text === "" ? { ...shownText, text: attachmentNote(rootPart) } : shownText;
}

/** Returns the first charset that a part of a mail names; empty if none does. */
export function toMailCharset(rootPart: MessagePart): string {
  return (
    Array.from(listLeaves(rootPart), ({ messagePart }) => toCharset(messagePart)).find(
      (charsetName) => charsetName !== "",
    ) ?? ""
  );
}

function shownIn(messagePart: MessagePart, mailCharset: string): ShownText {
  if (messagePart.childNodes.length === 0)
    return {
      text: isTextPart(messagePart) ? leafText(messagePart, mailCharset) : "",
      textsDiffer: false,
    };
  if (messagePart.contentType.multipart === "alternative")
    return shownAlternative(messagePart, mailCharset);
  const childTexts = messagePart.childNodes.map((childPart) => shownIn(childPart, mailCharset));
  const joinedText = childTexts
    .map((shownText) => shownText.text)
    .filter((shownText) => shownText !== "")
    .join("\n");
  return { text: joinedText, textsDiffer: childTexts.some((shownText) => shownText.textsDiffer) };
}

// The last one that can be shown (RFC 2046, section 5.1.4); an invitation is the last one too.
function shownAlternative({ childNodes }: MessagePart, mailCharset: string): ShownText {
  const rankedMessageParts = [
    ...childNodes.filter(isCalendar),
    ...childNodes.filter((childPart) => !isCalendar(childPart)),
  ];
  let shownText: ShownText = { text: "", textsDiffer: false };
  for (const alternative of rankedMessageParts.toReversed()) {
    const otherText = shownIn(alternative, mailCharset);
    if (shownText.text === "") shownText = otherText;
    else if (!isCalendar(alternative) && differs(otherText.text, shownText.text))
      return { ...shownText, textsDiffer: true };
  }
  return shownText;
}

function isCalendar(messagePart: MessagePart): boolean {
  return toContentType(messagePart) === "text/calendar";
}

const COMPARED_WORDS = 60;

/** Returns whether most words of a text are not in another; a request to show HTML is no text of a mail. */
function differs(firstText: string, secondText: string): boolean {
  if (firstText.length < 500 && /\bhtml\b|browser/i.test(firstText)) return false;
  const comparedWords =
    firstText
      .slice(0, 2000)
      .toLowerCase()
      .replace(/https?:\S+/g, " ")
      .match(/\p{L}{3,}/gu)
      ?.slice(0, COMPARED_WORDS) ?? [];
  const lowerCaseText = secondText.toLowerCase();
  const commonCount = comparedWords.filter((comparedWord) =>
    lowerCaseText.includes(comparedWord),
  ).length;
  return comparedWords.length > 0 && commonCount < comparedWords.length / 3;
}

function leafText(messagePart: MessagePart, mailCharset: string): string {
  const [contentType, partText] = [
    toContentType(messagePart),
    describeText(messagePart, mailCharset),
  ];
  if (contentType === "text/calendar") return eventText(partText);
  const isMarkup = /^text\/(?:html|enriched|richtext)$/.test(contentType);
  return isMarkup ? toVisibleText(partText) : visiblePlainText(partText);
}

/** Returns the words of an invitation (RFC 5545); a text that is none is unchanged. */
function eventText(calendarText: string): string {
  if (!/^\s{0,100}BEGIN:VCALENDAR/i.test(calendarText)) return calendarText.trim();
  const eventLines = calendarText
    .replace(/\r?\n[ \t]/g, "")
    .matchAll(/^(?:SUMMARY|LOCATION|DESCRIPTION)(?:;[^:\n]{0,500})?:(.*)/gim);
  return Array.from(eventLines, ([, eventWords = ""]) =>
    eventWords.replace(/\\n/gi, " ").replace(/\\(.)/g, "$1"),
  )
    .join(" ")
    .trim();
}

/** Returns a note in place of an encrypted text; null for other mails. */
function encryptionNote(rootPart: MessagePart, shownText: string): string | null {
  const contentType = rootPart.contentType.value.toLowerCase();
  const isEncrypted =
    contentType.startsWith("multipart/encrypted") ||
    /^application\/(?:x-)?pkcs7-mime/.test(contentType) ||
    listAttachments(rootPart).some(
      (attachment) => attachment.type === "application/pgp-encrypted",
    ) ||
    shownText.trimStart().startsWith("-----BEGIN PGP MESSAGE-----");
  if (!isEncrypted) return null;
  return contentType.includes("signed-data")
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

function attachmentNote(rootPart: MessagePart): string {
  const contentTypes = listAttachments(rootPart).map(({ name, type }) =>
    /^winmail\.dat$/i.test(name) ? "application/ms-tnef" : type,
  );
  return (
    attachmentNotes.find(([typePattern]) =>
      contentTypes.some((contentType) => typePattern.test(contentType)),
    )?.[1] ?? ""
  );
}
