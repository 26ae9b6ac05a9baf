import type { ExpungeEvent, ImapFlow, MailboxObject } from "imapflow";
import { openFolder } from "./connect.ts";
import { searchUids } from "./fetch-mails.ts";
import { findFolder, listSpellings } from "./folder-names.ts";
import { rejectTable } from "./folder-table.ts";
import type { FolderState, FolderTable } from "./folder-table.ts";
import type { MailboxAddress } from "./mailbox-url.ts";
import { readMails, type SkippedMail } from "./read-message.ts";

/** Mails that are read and kept at once. */
const RANGE_LENGTH = 500;

/** The folder to read, and the first day of its mails; null for all. */
interface SyncTarget {
  readonly address: MailboxAddress;
  readonly since: string | null;
  /** The file of mails, for messages. */
  readonly outputPath: string;
  /** Called after each range. */
  readonly onRange: (readCount: number, totalCount: number) => void;
}

type Box = Pick<MailboxObject, "uidValidity" | "highestModseq" | "noModseq" | "exists"> &
  Partial<Pick<MailboxObject, "uidNext">>;

/** Compares a folder with its last read, and decides which UIDs may be new. */
export function planSync(knownState: FolderState | null, mailbox: Box, since: string | null) {
  const isOther = knownState?.uidvalidity !== Number(mailbox.uidValidity);
  const nextUid = isOther || knownState.since !== since ? null : knownState.uidnext;
  const hasNewMails =
    nextUid === null || mailbox.uidNext === undefined || mailbox.uidNext > nextUid;
  return {
    /** Whether the UIDs of the table belong to other mails now. */
    isOther,
    /** Whether all UIDs are compared. */
    isWhole: nextUid === null,
    /** The first UID to look for; null if none is new. */
    first: hasNewMails ? (nextUid ?? 1) : null,
  };
}

/** Reads the new mails of a folder into its table; returns its state, and the changes of its mails. */
export async function syncFolder(
  client: ImapFlow,
  folderTable: FolderTable,
  { address, since, outputPath, onRange }: SyncTarget,
) {
  const folderPath = await findFolder(client, address);
  checkFolder(folderTable.state, { folder: folderPath, client, path: outputPath });
  // A table that has the folder under a short name begins again.
  const knownState = folderTable.state?.folder === folderPath ? folderTable.state : null;
  // One account has one name in all records.
  const folderPlace = { folder: folderPath, account: knownState?.account ?? address.account };
  const { box, vanished: vanishedUids } = await examine(client, folderPlace, knownState);
  const syncPlan = planSync(knownState, box, since);
  const folderState: FolderState = {
    ...folderPlace,
    uidvalidity: Number(box.uidValidity),
    since,
    uidnext: null,
    highestmodseq: null,
  };
  if (syncPlan.isOther) await folderTable.beginSync(folderState);
  const knownUids = new Set(folderTable.listUids());
  const mailsThere = await uidsThere(client, {
    ...syncPlan,
    mailbox: box,
    knownUids,
    vanished: vanishedUids,
    since,
  });
  const missingUids = mailsThere.uids.filter((uid) => !knownUids.has(uid));
  const presentUids = new Set(mailsThere.uids);
  const goneUids = [...knownUids].filter((uid) => !presentUids.has(uid));
  const skippedMails: SkippedMail[] = [];
  let expungedCount = 0;
  const { account, uidvalidity } = folderState;
  for (let rangeStart = 0; rangeStart < missingUids.length; rangeStart += RANGE_LENGTH) {
    const uidRange = missingUids.slice(rangeStart, rangeStart + RANGE_LENGTH);
    const readResult = await readMails(client, uidRange, {
      account,
      folder: folderPath,
      uidvalidity,
    });
    await folderTable.addMails(readResult.uidMails, goneUids);
    skippedMails.push(...readResult.skippedMails);
    expungedCount += readResult.goneUids.length;
    onRange(Math.min(rangeStart + RANGE_LENGTH, missingUids.length), missingUids.length);
  }
  // A skipped mail is looked for again next time.
  const nextUid = Math.min(box.uidNext ?? Infinity, ...skippedMails.map(({ uid }) => uid));
  const uidnext = Number.isFinite(nextUid) ? nextUid : null;
  const highestmodseq = box.highestModseq?.toString() ?? null;
  return {
    state: { ...folderState, uidnext, highestmodseq },
    /** The UIDs that were new to the table, or may be new to the file of mails. */
    fresh: [...missingUids, ...mailsThere.found],
    gone: goneUids,
    skipped: skippedMails,
    /** New mails that left the folder during this read. */
    expunged: expungedCount,
    /** Mails that are marked as deleted, which are left out. */
    marked: mailsThere.marked,
    read: missingUids.length - skippedMails.length - expungedCount,
    // Found mails may be in the table, and not in the file of mails, after a cut connection.
    isChanged:
      syncPlan.isWhole || mailsThere.found.length + missingUids.length + goneUids.length > 0,
  };
}

function checkFolder(
  knownState: FolderState | null,
  { folder, client, path }: { folder: string; client: ImapFlow; path: string },
): void {
  if (knownState === null || listSpellings(knownState.folder, client).includes(folder)) return;
  rejectTable(path, knownState, folder);
}

// With QRESYNC one command returns the changes too.
async function examine(
  client: ImapFlow,
  folderPlace: Pick<FolderState, "account" | "folder">,
  knownState: FolderState | null,
) {
  const vanishedUids = new Set<number>();
  const noteVanished = ({ uid }: ExpungeEvent) => void (uid !== undefined && vanishedUids.add(uid));
  client.on("expunge", noteVanished);
  try {
    const { highestmodseq, uidvalidity } = knownState ?? {};
    const changes = highestmodseq ? { changedSince: highestmodseq, uidValidity: uidvalidity } : {};
    // A copy, since later answers about other mails change the box of the client.
    const mailbox: Box = {
      ...(await openFolder(client, folderPlace, { readOnly: true, ...changes })),
    };
    return { box: mailbox, vanished: vanishedUids };
  } finally {
    client.off("expunge", noteVanished);
  }
}

interface FolderUids extends ReturnType<typeof planSync> {
  readonly mailbox: Box;
  readonly knownUids: ReadonlySet<number>;
  readonly vanished: ReadonlySet<number>;
  readonly since: string | null;
}

/** Finds the mails that are in a folder and not marked as deleted. */
async function uidsThere(
  client: ImapFlow,
  { mailbox, knownUids, vanished: vanishedUids, since, isWhole, first }: FolderUids,
) {
  const sinceQuery = since === null ? {} : { since: new Date(since) };
  const searchFrom = async (fromUid: number) => {
    const laterUids = await searchUids(client, {
      uid: `${fromUid}:*`,
      deleted: false,
      ...sinceQuery,
    });
    // A server answers N:* with its last mail if N is too high.
    return laterUids.filter((uid) => uid >= fromUid);
  };
  if (mailbox.exists === 0) return { uids: [], found: [], marked: 0 };
  const markedUids = await searchUids(client, { deleted: true, ...sinceQuery });
  const foundUids = first === null ? [] : await searchFrom(first);
  const remainingUids = [...knownUids].filter((uid) => !vanishedUids.has(uid));
  const allUids = [...new Set([...remainingUids, ...foundUids])];
  const isListComplete =
    since === null &&
    allUids.length + markedUids.length === mailbox.exists &&
    !markedUids.some((uid) => knownUids.has(uid));
  const presentUids = isWhole ? foundUids : isListComplete ? allUids : await searchFrom(1);
  const presentSet = new Set(presentUids);
  return {
    uids: presentUids,
    found: foundUids,
    marked: markedUids.filter((uid) => !presentSet.has(uid)).length,
  };
}
