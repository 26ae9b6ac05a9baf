import type { FetchMessageObject, ImapFlow } from "imapflow";
import type { Mail } from "../input/mail-schema.ts";
import { openFolder } from "./connect.ts";
import { fetchMails, searchUids } from "./fetch-mails.ts";
import { findFolder } from "./folder-names.ts";
import type { MailboxAddress } from "./mailbox-url.ts";
import type { Place } from "./plan-line.ts";
import { readMails } from "./read-message.ts";

/** Mails that are fetched with one command. */
const RANGE_LENGTH = 500;

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
  const folderPath = await findFolder(client, address);
  const { uidValidity, highestModseq } = await openFolder(client, {
    ...address,
    folder: folderPath,
  });
  const folderPlace = {
    account: address.account,
    folder: folderPath,
    uidvalidity: Number(uidValidity),
  };
  const uidsByMessageId = await uidsById(
    client,
    new Set(mails.map(({ headers }) => headers?.messageId)),
  );
  const onlyUids = [...uidsByMessageId.values()].flatMap((sameIdUids) =>
    sameIdUids.length === 1 ? sameIdUids : [],
  );
  const mailsByMessageId = new Map(
    mails.map((wantedMail) => [wantedMail.headers?.messageId, wantedMail]),
  );
  const sameMailUids = new Set<number>();
  for (const uidRange of computeRanges(onlyUids)) {
    // As an import does, since the charset of a header may be that of a part.
    const { uidMails } = await readMails(client, uidRange, folderPlace);
    for (const [mailUid, serverMail] of uidMails)
      if (isSameMail(serverMail, mailsByMessageId)) sameMailUids.add(mailUid);
  }
  const toPlace = (wantedMail: Mail): Place | string => {
    const { messageId = "" } = wantedMail.headers ?? {};
    const [mailUid, ...otherUids] = uidsByMessageId.get(messageId) ?? [];
    if (messageId === "") return "it has no Message-ID";
    if (idCounts.get(messageId) !== 1) return "its Message-ID repeats in the file";
    if (mailUid === undefined) return `no mail of ${folderPath} has its Message-ID`;
    if (otherUids.length > 0) return `several mails of ${folderPath} have its Message-ID`;
    if (!sameMailUids.has(mailUid)) return `its Message-ID is another mail's in ${folderPath}`;
    return { ...folderPlace, uid: mailUid };
  };
  return { modseq: highestModseq?.toString() ?? null, places: mails.map(toPlace) };
}

/** Returns the UIDs of the open folder's mails that have one of some Message-IDs. */
async function uidsById(client: ImapFlow, wantedIds: ReadonlySet<string | undefined>) {
  const uidsByMessageId = new Map<string, number[]>();
  for (const uidRange of computeRanges(await searchUids(client, { all: true }))) {
    for await (const { uid, message } of fetchMails(client, uidRange, messageIds)) {
      const messageId = messageIdIn(message?.headers?.toString("latin1") ?? "");
      if (!wantedIds.has(messageId)) continue;
      const sameUids = uidsByMessageId.get(messageId) ?? [];
      sameUids.push(uid);
      uidsByMessageId.set(messageId, sameUids);
    }
  }
  return uidsByMessageId;
}

const messageIds = {
  query: { headers: ["message-id"] },
  isWhole: ({ headers }: FetchMessageObject) => headers !== undefined,
};

/** Returns the first Message-ID of a header, as an import reads it; the text of others is left out. */
function messageIdIn(headerText: string): string {
  const [, headerValue = ""] = /^[^:]{1,100}:(.*(?:\r?\n[ \t].*)*)/.exec(headerText) ?? [];
  return headerValue.replace(/[<>\s]/g, "");
}

function computeRanges(mailUids: readonly number[]): number[][] {
  const rangeCount = Math.ceil(mailUids.length / RANGE_LENGTH);
  return Array.from({ length: rangeCount }, (_, rangeIndex) =>
    mailUids.slice(rangeIndex * RANGE_LENGTH, (rangeIndex + 1) * RANGE_LENGTH),
  );
}

function isSameMail(foundMail: Mail, wantedMails: ReadonlyMap<string | undefined, Mail>): boolean {
  const wantedMail = wantedMails.get(foundMail.headers?.messageId);
  return (["from", "subject", "date"] as const).every(
    (fieldName) => foundMail[fieldName] === wantedMail?.[fieldName],
  );
}
