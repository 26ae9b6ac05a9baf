import type { ExpungeEvent, ImapFlow, MailboxObject } from "imapflow";
import { openFolder } from "./connect.ts";
import { searchUids } from "./fetch-mails.ts";
import { findFolder, listSpellings } from "./folder-names.ts";
import { rejectTable } from "./folder-table.ts";
import type { FolderState, FolderTable } from "./folder-table.ts";
import type { MailboxAddress } from "./mailbox-url.ts";
import { readMails, type SkippedMail } from "./read-message.ts";

/** Mails that are read and kept at once. */
const RANGE = 500;

/** The folder to read, and the first day of its mails; null for all. */
interface SyncTarget {
  readonly address: MailboxAddress;
  readonly since: string | null;
  /** The file of mails, for messages. */
  readonly path: string;
  /** Called after each range. */
  readonly onRange: (read: number, of: number) => void;
}

type Box = Pick<MailboxObject, "uidValidity" | "highestModseq" | "noModseq" | "exists"> &
  Partial<Pick<MailboxObject, "uidNext">>;

/** Compares a folder with its last read, and decides which UIDs may be new. */
export function planSync(knownState: FolderState | null, box: Box, since: string | null) {
  const isOther = knownState?.uidvalidity !== Number(box.uidValidity);
  const next = isOther || knownState.since !== since ? null : knownState.uidnext;
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

/** Reads the new mails of a folder into its table; returns its state, and the changes of its mails. */
export async function syncFolder(
  client: ImapFlow,
  table: FolderTable,
  { address, since, path, onRange }: SyncTarget,
) {
  const folder = await findFolder(client, address);
  checkFolder(table.state, { folder, client, path });
  // A table that has the folder under a short name begins again.
  const knownState = table.state?.folder === folder ? table.state : null;
  // One account has one name in all records.
  const place = { folder, account: knownState?.account ?? address.account };
  const { box, vanished: vanishedUids } = await examine(client, place, knownState);
  const plan = planSync(knownState, box, since);
  const state: FolderState = {
    ...place,
    uidvalidity: Number(box.uidValidity),
    since,
    uidnext: null,
    highestmodseq: null,
  };
  if (plan.isOther) await table.begin(state);
  const have = new Set(table.uids());
  const there = await uidsThere(client, { ...plan, box, have, vanished: vanishedUids, since });
  const missing = there.uids.filter((uid) => !have.has(uid));
  const uids = new Set(there.uids);
  const goneUids = [...have].filter((uid) => !uids.has(uid));
  const skippedMails: SkippedMail[] = [];
  let expungedCount = 0;
  const { account, uidvalidity } = state;
  for (let at = 0; at < missing.length; at += RANGE) {
    const range = missing.slice(at, at + RANGE);
    const read = await readMails(client, range, { account, folder, uidvalidity });
    await table.add(read.mails, goneUids);
    skippedMails.push(...read.skipped);
    expungedCount += read.gone.length;
    onRange(Math.min(at + RANGE, missing.length), missing.length);
  }
  // A skipped mail is looked for again next time.
  const next = Math.min(box.uidNext ?? Infinity, ...skippedMails.map(({ uid }) => uid));
  const uidnext = Number.isFinite(next) ? next : null;
  const highestmodseq = box.highestModseq?.toString() ?? null;
  return {
    state: { ...state, uidnext, highestmodseq },
    /** The UIDs that were new to the table, or may be new to the file of mails. */
    fresh: [...missing, ...there.found],
    gone: goneUids,
    skipped: skippedMails,
    /** New mails that left the folder during this read. */
    expunged: expungedCount,
    /** Mails that are marked as deleted, which are left out. */
    marked: there.marked,
    read: missing.length - skippedMails.length - expungedCount,
    // Found mails may be in the table, and not in the file of mails, after a cut connection.
    isChanged: plan.isWhole || there.found.length + missing.length + goneUids.length > 0,
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
  place: Pick<FolderState, "account" | "folder">,
  knownState: FolderState | null,
) {
  const vanishedUids = new Set<number>();
  const note = ({ uid }: ExpungeEvent) => void (uid !== undefined && vanishedUids.add(uid));
  client.on("expunge", note);
  try {
    const { highestmodseq, uidvalidity } = knownState ?? {};
    const changes = highestmodseq ? { changedSince: highestmodseq, uidValidity: uidvalidity } : {};
    // A copy, since later answers about other mails change the box of the client.
    const box: Box = { ...(await openFolder(client, place, { readOnly: true, ...changes })) };
    return { box, vanished: vanishedUids };
  } finally {
    client.off("expunge", note);
  }
}

interface FolderUids extends ReturnType<typeof planSync> {
  readonly box: Box;
  readonly have: ReadonlySet<number>;
  readonly vanished: ReadonlySet<number>;
  readonly since: string | null;
}

/** Finds the mails that are in a folder and not marked as deleted. */
async function uidsThere(
  client: ImapFlow,
  { box, have, vanished: vanishedUids, since, isWhole, first }: FolderUids,
) {
  const days = since === null ? {} : { since: new Date(since) };
  const search = async (from: number) => {
    const uids = await searchUids(client, { uid: `${from}:*`, deleted: false, ...days });
    // A server answers N:* with its last mail if N is too high.
    return uids.filter((uid) => uid >= from);
  };
  if (box.exists === 0) return { uids: [], found: [], marked: 0 };
  const markedUids = await searchUids(client, { deleted: true, ...days });
  const foundUids = first === null ? [] : await search(first);
  const remainingUids = [...have].filter((uid) => !vanishedUids.has(uid));
  const uids = [...new Set([...remainingUids, ...foundUids])];
  const isSure =
    since === null &&
    uids.length + markedUids.length === box.exists &&
    !markedUids.some((uid) => have.has(uid));
  const all = isWhole ? foundUids : isSure ? uids : await search(1);
  const there = new Set(all);
  return {
    uids: all,
    found: foundUids,
    marked: markedUids.filter((uid) => !there.has(uid)).length,
  };
}
