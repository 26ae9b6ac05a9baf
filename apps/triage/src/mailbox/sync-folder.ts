import { hash } from "node:crypto";
import type {
  ExpungeEvent,
  FetchMessageObject,
  ImapFlow,
  MailboxObject,
  MessageStructureObject,
} from "imapflow";
import type { Mail, MailSource } from "../input/mail-schema.ts";
import { openFolder } from "./connect.ts";
import type { FolderState, FolderTable } from "./folder-table.ts";
import type { MailboxAddress } from "./mailbox-url.ts";
import { parseMessage } from "../import/parse-message.ts";
import { toMail } from "../import/to-mail.ts";

/** Mails that are read and kept at once. */
const RANGE = 500;
/** A longer header is an attack. */
const HEADER_BYTES = 65_536;
const byUid = { uid: true };

/** The folder to read, and the first day of its mails; null for all. */
interface SyncTarget {
  readonly address: MailboxAddress;
  readonly since: string | null;
  /** Called after each range. */
  readonly onRange: (read: number, of: number) => void;
}

type Box = Pick<MailboxObject, "uidValidity" | "highestModseq" | "noModseq" | "exists"> &
  Partial<Pick<MailboxObject, "uidNext">>;

/** Compares a folder with its last read, and decides which UIDs may be new. */
export function planSync(known: FolderState | null, box: Box, since: string | null) {
  const isOther = known?.uidvalidity !== Number(box.uidValidity);
  const next = isOther || known.since !== since ? null : known.uidnext;
  const hasNew = next === null || box.uidNext === undefined || box.uidNext > next;
  return {
    /** Whether the UIDs of the table belong to other mails now. */
    isOther,
    /** Whether all UIDs are compared. */
    isWhole: next === null,
    /** The first UID to look for; null if none is new. */
    first: hasNew ? (next ?? 1) : null,
  };
}

/** Reads the new mails of a folder into its table; returns its state, the first UID that may be new, and the UIDs that are gone. */
export async function syncFolder(
  client: ImapFlow,
  table: FolderTable,
  { address, since, onRange }: SyncTarget,
) {
  const known = table.state;
  const { box, vanished } = await examine(client, address, known);
  const { isOther, isWhole, first } = planSync(known, box, since);
  const { account, folder } = address;
  const place = { account, folder, uidvalidity: Number(box.uidValidity), since };
  if (isOther) await table.begin({ ...place, uidnext: null, highestmodseq: null });
  const have = new Set(table.uids());
  const found = first === null ? [] : await searchFrom(client, first, since);
  const missing = found.filter((uid) => !have.has(uid));
  const left = [...have].filter((uid) => !vanished.has(uid));
  const hasVanished = client.enabled.has("QRESYNC") && box.highestModseq !== undefined;
  const isSure =
    isWhole || (since === null ? left.length + missing.length === box.exists : hasVanished);
  const all = isSure ? left : await searchFrom(client, 1, since);
  const there = new Set(isWhole ? found : all);
  const gone = [...have].filter((uid) => !there.has(uid));
  for (let at = 0; at < missing.length; at += RANGE) {
    await table.add(await readRange(client, missing.slice(at, at + RANGE), place), gone);
    onRange(Math.min(at + RANGE, missing.length), missing.length);
  }
  const highestmodseq = box.highestModseq?.toString() ?? null;
  const state: FolderState = { ...place, uidnext: box.uidNext ?? null, highestmodseq };
  // Found mails may be in the table, and not in the file of mails, after a cut connection.
  const isChanged = isWhole || found.length + gone.length > 0;
  const count = have.size + missing.length - gone.length;
  return { state, count, read: missing.length, first, gone, isChanged };
}

// With QRESYNC one command returns the changes too.
async function examine(client: ImapFlow, address: MailboxAddress, known: FolderState | null) {
  const vanished = new Set<number>();
  const note = ({ uid }: ExpungeEvent) => void (uid !== undefined && vanished.add(uid));
  client.on("expunge", note);
  try {
    const { highestmodseq, uidvalidity } = known ?? {};
    const changes = highestmodseq ? { changedSince: highestmodseq, uidValidity: uidvalidity } : {};
    const box: Box = await openFolder(client, address, { readOnly: true, ...changes });
    return { box, vanished };
  } finally {
    client.off("expunge", note);
  }
}

async function searchFrom(client: ImapFlow, first: number, since: string | null) {
  const days = since === null ? {} : { since: new Date(since) };
  const uids = await client.search({ uid: `${first}:*`, ...days }, { uid: true });
  // The client does not pass the refusal on; servers refuse a search if they are busy.
  if (!Array.isArray(uids)) throw Object.assign(new Error("refused"), { code: "ETHROTTLE" });
  // A server answers N:* with its last mail if N is too high.
  return uids.filter((uid) => uid >= first);
}

async function readRange(
  client: ImapFlow,
  uids: readonly number[],
  { account, folder, uidvalidity }: MailSource,
): Promise<[number, Mail][]> {
  const header = { key: "HEADER", maxLength: HEADER_BYTES };
  const query = { internalDate: true, size: true, bodyStructure: true, bodyParts: [header] };
  const messages = await client.fetchAll(uids.join(","), query, byUid);
  const mails: [number, Mail][] = [];
  for await (const { uid, texts, message } of withTexts(client, messages)) {
    const source = { account, folder, uidvalidity, uid };
    mails.push([uid, await readMessage(message, { texts, source })]);
  }
  return mails;
}

/** Reads the texts of mails: one command for those with the same parts. */
async function* withTexts(client: ImapFlow, messages: readonly FetchMessageObject[]) {
  const left = new Map(messages.map((message) => [message.uid, message]));
  const groups = Map.groupBy(messages, ({ bodyStructure }) => textParts(bodyStructure).join(","));
  groups.delete("");
  for (const [parts, group] of groups) {
    const bodyParts = parts.split(",").map((key) => ({ key, start: 0, maxLength: TEXT_BYTES }));
    const uids = group.map(({ uid }) => uid).join(",");
    for await (const { uid, bodyParts: texts } of client.fetch(uids, { bodyParts }, byUid)) {
      const message = left.get(uid);
      if (message !== undefined) yield { uid, message, texts };
      left.delete(uid);
    }
  }
  // Without a text, or gone by now.
  for (const [uid, message] of left) yield { uid, message, texts: undefined };
}

const TEXT_BYTES = 6000;
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
async function readMessage(
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
  const arrived = received?.slice(0, 10) ?? "1970-01-01";
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
