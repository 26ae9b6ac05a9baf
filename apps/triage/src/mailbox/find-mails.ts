import type { FetchMessageObject, ImapFlow } from "imapflow";
import { parseMessage } from "../import/parse-message.ts";
import { toMail } from "../import/to-mail.ts";
import type { Mail } from "../input/mail-schema.ts";
import { openFolder } from "./connect.ts";
import { fetchMails, searchUids } from "./fetch-mails.ts";
import { findFolder } from "./folder-names.ts";
import type { MailboxAddress } from "./mailbox-url.ts";
import type { Place } from "./plan-line.ts";

/** Mails that are fetched with one command. */
const RANGE = 500;
/** What mails are compared by; the last one may name the charset of the others. */
const compared = ["message-id", "from", "subject", "date", "content-type"];

/**
 * Finds mails of an export in a folder of a server, which is only read: by Message-ID, and then by
 * sender, subject and day, since anyone can write a mail with the Message-ID of another one.
 *
 * @param idCounts The number of mails of the whole export that have a Message-ID.
 * @returns The place of each mail, or why it has none, in the order of the mails.
 */
export async function findMails(
  client: ImapFlow,
  address: MailboxAddress,
  { mails, idCounts }: { mails: readonly Mail[]; idCounts: ReadonlyMap<string, number> },
) {
  const folder = await findFolder(client, address);
  const { uidValidity, highestModseq } = await openFolder(client, { ...address, folder });
  const place = { account: address.account, folder, uidvalidity: Number(uidValidity) };
  const uids = await uidsById(client, new Set(mails.map(({ headers }) => headers?.messageId)));
  const onlyUids = [...uids.values()].flatMap((all) => (all.length === 1 ? all : []));
  const found = new Map<number, Mail>();
  for await (const mail of readHeads(client, onlyUids, compared)) {
    found.set(mail.source?.uid ?? 0, mail);
  }
  const placeOf = (mail: Mail): Place | string => {
    const { messageId = "" } = mail.headers ?? {};
    const [uid, ...others] = uids.get(messageId) ?? [];
    if (messageId === "") return "it has no Message-ID";
    if (idCounts.get(messageId) !== 1) return "other mails of the file have its Message-ID too";
    if (uid === undefined) return `no mail of ${folder} has its Message-ID`;
    if (others.length > 0) return `several mails of ${folder} have its Message-ID`;
    const isSame = isSameMail(mail, found.get(uid));
    return isSame ? { ...place, uid } : `the mail of ${folder} with its Message-ID is another one`;
  };
  return { modseq: highestModseq?.toString() ?? null, places: mails.map(placeOf) };
}

/** Returns the UIDs of the open folder's mails that have one of some Message-IDs. */
async function uidsById(client: ImapFlow, wanted: ReadonlySet<string | undefined>) {
  const uids = new Map<string, number[]>();
  for await (const { headers, source } of readHeads(
    client,
    await searchUids(client, { all: true }),
    ["message-id"],
  )) {
    const id = headers?.messageId;
    if (id === undefined || !wanted.has(id)) continue;
    const known = uids.get(id) ?? [];
    known.push(source?.uid ?? 0);
    uids.set(id, known);
  }
  return uids;
}

/** Reads some header fields of mails, as an import reads them. */
async function* readHeads(
  client: ImapFlow,
  uids: readonly number[],
  headers: string[],
): AsyncGenerator<Mail> {
  for (let at = 0; at < uids.length; at += RANGE) {
    const range = uids.slice(at, at + RANGE);
    const query = { query: { headers }, isWhole: hasHeaders };
    for await (const { uid, message } of fetchMails(client, range, query)) {
      if (message?.headers === undefined) continue;
      // Not empty, even if the mail has none of the fields.
      const bytes = Buffer.concat([Buffer.from("X-Mail:\r\n"), message.headers]);
      yield toMail(await parseMessage(bytes), { arrived: "", source: { uid } });
    }
  }
}

function hasHeaders({ headers }: FetchMessageObject): boolean {
  return headers !== undefined;
}

// A mail without a usable date got its day from its place in the export.
function isSameMail(mail: Mail, found: Mail | undefined): boolean {
  return (
    found !== undefined &&
    found.headers?.messageId === mail.headers?.messageId &&
    found.from === mail.from &&
    found.subject === mail.subject &&
    (found.date === "" || found.date === mail.date)
  );
}
