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
  const states = new Map<string, { readonly isOpen: boolean; readonly undo: Act | null }>();
  for (const { begun: begunAct, ended: endedAct } of entries) {
    const { undo = null } = states.get(begunAct.key) ?? {};
    if (begunAct.isUndo)
      states.set(begunAct.key, { isOpen: false, undo: endedAct?.isDone ? null : undo });
    else if (endedAct?.isDone)
      states.set(begunAct.key, { isOpen: false, undo: findUndo(begunAct, endedAct) });
    else states.set(begunAct.key, { isOpen: true, undo: null });
  }
  return states;
}

// A flag that the mail had before is not taken back.
function findUndo(begunAct: BegunAct, { folder, uidvalidity, uid, flags }: EndedAct): Act | null {
  const { key, id, account, mail, command, target } = begunAct;
  const knownMail = { id: mail.id, flags };
  const act = { key, id, account, folder, uidvalidity, uid, isUndo: true, known: knownMail };
  if (command === "move") return { ...act, command, target: begunAct.folder };
  return hasFlag(mail, target) ? null : { ...act, command: "remove", target };
}

/** Returns why a mail is left alone; null if the command may be sent. */
export function reasonToLeave(
  { known: seenMail, folder, isUndo }: Act,
  mail: SeenMail | undefined,
) {
  const advice = isUndo ? "it stays where it is" : "import again and make a new plan";
  if (mail === undefined) return `it is no longer at its UID in ${folder}; ${advice}`;
  return isSame(seenMail, mail) ? null : `another mail is at its UID in ${folder}; ${advice}`;
}

/** Returns whether a mail has other flags than expected. */
export function isChanged({ known: { flags } }: Act, mail: SeenMail): boolean {
  return flags !== undefined && flags.join(" ") !== mail.flags.join(" ");
}

/** Returns whether a mail is to be moved, lacks the flag to add, or has the flag to remove. */
export function needsCommand({ command, target }: Act, mail: SeenMail): boolean {
  return command === "move" || hasFlag(mail, target) !== (command === "add");
}

/**
 * Finds out whether a command took effect, from the mail at its UID and the mails that arrived in the
 * target, from which the mail is removed.
 */
export function settleAct(
  begunAct: BegunAct,
  here: SeenMail | undefined,
  seenMails: SeenMail[],
): EndedAct {
  const { folder, uidvalidity, uid, mail, arrival, target } = begunAct;
  const before = { folder, uidvalidity, uid, flags: here?.flags ?? mail.flags };
  const isHere = here !== undefined && isSame(mail, here);
  if (isHere || arrival === null) {
    return { isDone: isHere && !needsCommand(begunAct, here), ...before };
  }
  const same = seenMails.filter((one) => one.uid >= arrival.uidnext && isSame(mail, one));
  const arrivedMail = same.find((one) => one.flags.join(" ") === mail.flags.join(" ")) ?? same[0];
  if (arrivedMail === undefined) return { isDone: false, ...before };
  seenMails.splice(seenMails.indexOf(arrivedMail), 1); // of several copies, each is one mail
  const place = { folder: target, uidvalidity: arrival.uidvalidity, uid: arrivedMail.uid };
  return { isDone: true, ...place, flags: arrivedMail.flags };
}

function isSame({ id, messageId }: Act["known"], mail: SeenMail): boolean {
  return (id ?? mail.id) === mail.id && (messageId ?? mail.messageId) === mail.messageId;
}

// Flags and keywords ignore case (RFC 9051).
function hasFlag({ flags }: SeenMail, flag: string): boolean {
  return flags.some((one) => one.toLowerCase() === flag.toLowerCase());
}
