import { hash } from "node:crypto";
import type { FetchMessageObject, MessageStructureObject } from "imapflow";
import { parseMessage } from "../import/parse-message.ts";
import { toMail } from "../import/to-mail.ts";
import type { Mail, MailSource } from "../input/mail-schema.ts";

/** The bytes of a text part that are read. */
export const TEXT_BYTES = 6000;
/** More text parts than a mail has; only an attack has more. */
const MOST_TEXTS = 8;

/** Returns the id of a mail, which survives a move and a new UIDVALIDITY. */
export function mailId({
  emailId = "",
  messageId = "",
  received,
  size = 0,
}: Pick<FetchMessageObject, "emailId" | "size"> &
  Record<"messageId" | "received", string | undefined>): string {
  // Gmail's number, as its addresses have it.
  if (/^\d{1,20}$/.test(emailId)) return BigInt(emailId).toString(16);
  const parts = [emailId || messageId.replace(/[<>\s]/g, ""), received, size];
  return `mail-${hash("sha256", parts.join("\n")).slice(0, 24)}`;
}

/** Returns the numbers of the text parts of a mail, without attachments. */
export function textParts(root: MessageStructureObject | undefined): string[] {
  return leavesOf(root)
    .filter(({ type, disposition }) => {
      return /^text\/(?:plain|html)$/i.test(type) && disposition?.toLowerCase() !== "attachment";
    })
    .slice(0, MOST_TEXTS)
    .map(({ part = "1" }) => part);
}

function leavesOf(node: MessageStructureObject | undefined): MessageStructureObject[] {
  if (node === undefined) return [];
  return isMultipart(node) ? (node.childNodes ?? []).flatMap(leavesOf) : [node];
}

// A forwarded mail has child nodes too, and is an attachment.
function isMultipart({ type }: MessageStructureObject): boolean {
  return type.toLowerCase().startsWith("multipart/");
}

/** Returns the record of a mail whose structure, header and texts are read. */
export async function readMessage(
  message: FetchMessageObject,
  {
    texts = new Map(),
    source,
  }: { readonly texts: FetchMessageObject["bodyParts"]; readonly source: MailSource },
): Promise<Mail> {
  const { headers = Buffer.of(), bodyStructure, internalDate } = message;
  const head = headers.includes(":") ? headers : Buffer.from("Subject:\r\n\r\n");
  const body = bodyStructure === undefined ? [] : bodyOf(bodyStructure, texts);
  // A text that cannot be parsed leaves the header.
  const mail = await parseMessage(Buffer.concat([head, ...body])).catch(() => parseMessage(head));
  const received = internalDate === undefined ? undefined : new Date(internalDate).toISOString();
  const id = mailId({ ...message, messageId: mail.headers?.messageId, received });
  const arrived = { day: received?.slice(0, 10) ?? "1970-01-01", basis: "received" } as const;
  return toMail({ ...mail, id, received: received ?? mail.received }, { arrived, source });
}

/** Writes the parts again, each with the start of its text; attachments have none. */
function* bodyOf(
  node: MessageStructureObject,
  texts: ReadonlyMap<string, Buffer>,
): Generator<Buffer> {
  if (!isMultipart(node)) {
    const text = texts.get(node.part ?? "1") ?? Buffer.of();
    // Cut at a line end, since an encoded character or group may have been cut.
    yield text.length < TEXT_BYTES
      ? text
      : text.subarray(0, text.lastIndexOf("\n") + 1 || undefined);
    return;
  }
  const boundary = node.parameters?.["boundary"] ?? "";
  for (const child of node.childNodes ?? []) {
    yield Buffer.from(`\r\n--${boundary}\r\n${headerOf(child)}\r\n\r\n`);
    yield* bodyOf(child, texts);
  }
  yield Buffer.from(`\r\n--${boundary}--\r\n`);
}

function headerOf(node: MessageStructureObject): string {
  const { type, parameters, encoding, disposition, dispositionParameters } = node;
  const lines = [withParameters(`Content-Type: ${type}`, parameters)];
  if (encoding !== undefined) lines.push(`Content-Transfer-Encoding: ${encoding}`);
  if (disposition !== undefined) {
    lines.push(withParameters(`Content-Disposition: ${disposition}`, dispositionParameters));
  }
  return lines.map((line) => line.replace(/\p{Cc}/gu, " ")).join("\r\n");
}

function withParameters(start: string, parameters: Readonly<Record<string, string>> = {}): string {
  const words = Object.entries(parameters).map(([name, value]) => {
    return `; ${name}="${value.replace(/["\\]/g, "\\$&")}"`;
  });
  return start + words.join("");
}
