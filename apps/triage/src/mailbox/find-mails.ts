import type { FetchMessageObject, ImapFlow } from "imapflow";
import type { Mail } from "../input/mail-schema.ts";
import { openFolder } from "./connect.ts";
import { fetchMails, searchUids } from "./fetch-mails.ts";
import { findFolder } from "./folder-names.ts";
import type { MailboxAddress } from "./mailbox-url.ts";
import type { Place } from "./plan-line.ts";
import { readMails } from "./read-message.ts";

/** Mails that are fetched with one command. */
const RANGE = 500;

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
  const byId = new Map(mails.map((mail) => [mail.headers?.messageId, mail]));
  const same = new Set<number>();
  for (const range of computeRanges(onlyUids)) {
    // As an import does, since the charset of a header may be that of a part.
    const { mails: mailByUid } = await readMails(client, range, place);
    for (const [uid, mail] of mailByUid) if (isSameMail(mail, byId)) same.add(uid);
  }
  const toPlace = (mail: Mail): Place | string => {
    const { messageId = "" } = mail.headers ?? {};
    const [uid, ...others] = uids.get(messageId) ?? [];
    if (messageId === "") return "it has no Message-ID";
    if (idCounts.get(messageId) !== 1) return "other mails of the file have its Message-ID too";
    if (uid === undefined) return `no mail of ${folder} has its Message-ID`;
    if (others.length > 0) return `several mails of ${folder} have its Message-ID`;
    if (!same.has(uid)) return `the mail of ${folder} with its Message-ID is another one`;
    return { ...place, uid };
  };
  return { modseq: highestModseq?.toString() ?? null, places: mails.map(toPlace) };
}

/** Returns the UIDs of the open folder's mails that have one of some Message-IDs. */
async function uidsById(client: ImapFlow, wantedIds: ReadonlySet<string | undefined>) {
  const uids = new Map<string, number[]>();
  for (const range of computeRanges(await searchUids(client, { all: true }))) {
    for await (const { uid, message } of fetchMails(client, range, messageIds)) {
      const id = messageIdIn(message?.headers?.toString("latin1") ?? "");
      if (!wantedIds.has(id)) continue;
      const sameUids = uids.get(id) ?? [];
      sameUids.push(uid);
      uids.set(id, sameUids);
    }
  }
  return uids;
}

const messageIds = {
  query: { headers: ["message-id"] },
  isWhole: ({ headers }: FetchMessageObject) => headers !== undefined,
};

/** Returns the first Message-ID of a header, as an import reads it; the text of others is left out. */
function messageIdIn(head: string): string {
  const [, value = ""] = /^[^:]{1,100}:(.*(?:\r?\n[ \t].*)*)/.exec(head) ?? [];
  return value.replace(/[<>\s]/g, "");
}

function computeRanges(uids: readonly number[]): number[][] {
  const count = Math.ceil(uids.length / RANGE);
  return Array.from({ length: count }, (_, at) => uids.slice(at * RANGE, (at + 1) * RANGE));
}

function isSameMail(foundMail: Mail, mails: ReadonlyMap<string | undefined, Mail>): boolean {
  const mail = mails.get(foundMail.headers?.messageId);
  return (["from", "subject", "date"] as const).every((name) => foundMail[name] === mail?.[name]);
}
