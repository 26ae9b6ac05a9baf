import type { Place } from "./plan-line.ts";

/** A mail as the server reports it. */
export interface SeenMail {
  readonly uid: number;
  /** See `mailId`; it depends on Message-ID, received time and size, and survives a move. */
  readonly id: string;
  /** Without angle brackets; empty if it has none. */
  readonly messageId: string;
  /** Sorted. */
  readonly flags: readonly string[];
  readonly modseq: string | null;
}

/** A command on one mail. */
export interface Act extends Place {
  /** The line of the plan, see `toKey`. */
  readonly key: string;
  readonly id: string;
  readonly isUndo: boolean;
  readonly command: "add" | "remove" | "move";
  /** The flag, or the folder to move to. */
  readonly target: string;
  /** The expected mail; its id and Message-ID must match. */
  readonly known: Partial<SeenMail>;
}

/** The row before a command: the mail, and the next UID of the target folder. */
export interface BegunAct extends Act {
  readonly mail: SeenMail;
  readonly arrival: { readonly uidvalidity: number; readonly uidnext: number } | null;
}

/** The row after a command: whether it took effect, and the mail then. */
type EndedAct = Omit<Place, "account"> & Pick<SeenMail, "flags"> & { isDone: boolean };

/** Both rows of a command; without the second one, it was cut. */
export interface ActEntry {
  readonly row: number;
  readonly begun: BegunAct;
  readonly ended: EndedAct | null;
}

/** Returns for each line, by its key, whether it is to be applied, and the act that takes it back. */
export function listStates(entries: readonly ActEntry[]) {
  const statesByKey = new Map<string, { readonly isOpen: boolean; readonly undoAct: Act | null }>();
  for (const { begun: begunAct, ended: endedAct } of entries) {
    const { undoAct = null } = statesByKey.get(begunAct.key) ?? {};
    if (begunAct.isUndo)
      statesByKey.set(begunAct.key, { isOpen: false, undoAct: endedAct?.isDone ? null : undoAct });
    else if (endedAct?.isDone)
      statesByKey.set(begunAct.key, { isOpen: false, undoAct: findUndo(begunAct, endedAct) });
    else statesByKey.set(begunAct.key, { isOpen: true, undoAct: null });
  }
  return statesByKey;
}

// A flag that the mail had before is not taken back.
function findUndo(begunAct: BegunAct, { folder, uidvalidity, uid, flags }: EndedAct): Act | null {
  const { key, id, account, mail, command, target } = begunAct;
  const knownMail = { id: mail.id, flags };
  const undoAct = { key, id, account, folder, uidvalidity, uid, isUndo: true, known: knownMail };
  if (command === "move") return { ...undoAct, command, target: begunAct.folder };
  return hasFlag(mail, target) ? null : { ...undoAct, command: "remove", target };
}

/** Returns why a mail is left alone; null if the command may be sent. */
export function reasonToLeave(
  { known: seenMail, folder, isUndo }: Act,
  currentMail: SeenMail | undefined,
) {
  const advice = isUndo ? "it stays where it is" : "import and plan again";
  if (currentMail === undefined) return `it is no longer at its UID in ${folder}; ${advice}`;
  return isSameMail(seenMail, currentMail)
    ? null
    : `another mail is at its UID in ${folder}; ${advice}`;
}

/** Returns whether a mail has other flags than expected. */
export function isChanged({ known: { flags } }: Act, currentMail: SeenMail): boolean {
  return flags !== undefined && flags.join(" ") !== currentMail.flags.join(" ");
}

/** Returns whether a mail is to be moved, lacks the flag to add, or has the flag to remove. */
export function needsCommand({ command, target }: Act, currentMail: SeenMail): boolean {
  return command === "move" || hasFlag(currentMail, target) !== (command === "add");
}

/**
 * Finds out whether a command took effect, from the mail at its UID and the mails that arrived in the
 * target, from which the mail is removed.
 */
export function settleAct(
  begunAct: BegunAct,
  currentMail: SeenMail | undefined,
  seenMails: SeenMail[],
): EndedAct {
  const { folder, uidvalidity, uid, mail, arrival, target } = begunAct;
  const placeBefore = { folder, uidvalidity, uid, flags: currentMail?.flags ?? mail.flags };
  const isStillHere = currentMail !== undefined && isSameMail(mail, currentMail);
  if (isStillHere || arrival === null) {
    return { isDone: isStillHere && !needsCommand(begunAct, currentMail), ...placeBefore };
  }
  const sameMails = seenMails.filter(
    (seenMail) => seenMail.uid >= arrival.uidnext && isSameMail(mail, seenMail),
  );
  const arrivedMail =
    sameMails.find((sameMail) => sameMail.flags.join(" ") === mail.flags.join(" ")) ?? sameMails[0];
  if (arrivedMail === undefined) return { isDone: false, ...placeBefore };
  seenMails.splice(seenMails.indexOf(arrivedMail), 1); // of several copies, each is one mail
  const newPlace = { folder: target, uidvalidity: arrival.uidvalidity, uid: arrivedMail.uid };
  return { isDone: true, ...newPlace, flags: arrivedMail.flags };
}

function isSameMail({ id, messageId }: Act["known"], seenMail: SeenMail): boolean {
  return (
    (id ?? seenMail.id) === seenMail.id && (messageId ?? seenMail.messageId) === seenMail.messageId
  );
}

// Flags and keywords ignore case (RFC 9051).
function hasFlag({ flags }: SeenMail, wantedFlag: string): boolean {
  return flags.some((mailFlag) => mailFlag.toLowerCase() === wantedFlag.toLowerCase());
}
