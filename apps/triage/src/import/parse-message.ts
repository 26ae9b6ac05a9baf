import { createHash } from "node:crypto";
import { convert, type HtmlToTextOptions } from "html-to-text";
import PostalMime, { type Address, decodeWords, type Email } from "postal-mime";
import type { ImportedMail } from "./found-mail.ts";

/** How much of one message is read, in bytes; what comes after are the rest of its attachments. */
export const MESSAGE_BYTES = 1024 * 1024;

const htmlOptions: HtmlToTextOptions = {
  wordwrap: false,
  limits: { maxInputLength: 200_000 },
  selectors: [
    { selector: "a", options: { ignoreHref: true } },
    { selector: "img", format: "skip" },
  ],
};

/** Reads one message as it was sent (RFC 5322, MIME). */
export async function parseMessage(bytes: Uint8Array): Promise<ImportedMail> {
  // A mail inside the mail is not what the sender wrote.
  const email = await PostalMime.parse(bytes, { forceRfc822Attachments: true });
  if (email.headers.length === 0) throw new Error("it has no header");
  return {
    id: messageId(email) ?? `mail-${createHash("sha256").update(bytes).digest("hex").slice(0, 24)}`,
    date: toDate(email.date),
    from: printAddress(email.from),
    subject: email.subject ?? "",
    text: email.text?.trim() || convert(email.html ?? "", htmlOptions),
    labels: labelsOf(email),
  };
}

function messageId({ messageId: id = "" }: Email): string | null {
  return id.replace(/[<>\s]/g, "") || null;
}

function toDate(text: string | undefined): Date | null {
  const date = new Date(text ?? "");
  return Number.isNaN(date.getTime()) ? null : date;
}

function printAddress(from: Address | undefined): string {
  if (from === undefined) return "";
  if (from.name === "") return from.address ?? "";
  return from.address === undefined ? from.name : `${from.name} <${from.address}>`;
}

// Google Takeout writes the labels of a mail into a header of their own.
function labelsOf({ headers }: Email): string[] | null {
  const header = headers.find(({ key }) => key === "x-gmail-labels");
  if (header === undefined) return null;
  return decodeWords(header.value)
    .split(",")
    .map((label) => label.replaceAll('"', "").trim());
}
