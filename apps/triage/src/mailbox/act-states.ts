import type { Place } from "./plan-line.ts";

/** A mail as the server reports it. */
export interface SeenMail {
  readonly uid: number;
  /** Without angle brackets; empty if it has none. */
  readonly messageId: string;
  /** ISO time. */
  readonly received: string;
  readonly size: number;
  /** Sorted. */
  readonly flags: readonly string[];
  readonly modseq: string | null;
}

/** A command on one mail. */
export interface Act extends Place {
  /** The line of the plan, see `keyOf`. */
  readonly key: string;
  readonly id: string;
  readonly isUndo: boolean;
  readonly command: "add" | "remove" | "move";
  /** The flag, or the folder to move to. */
  readonly target: string;
  /** The mail as it is expected; all but the flags must be equal. */
  readonly known: Partial<SeenMail>;
}

/** The row before a command: the mail, and the folder's next UID, from which a moved mail is looked up. */
export interface BegunAct extends Act {
  readonly mail: SeenMail;
  readonly arrival: { readonly uidvalidity: number; readonly uidnext: number } | null;
}

/** The row after a command: where the mail is; `gone` if it is in neither folder. */
export interface EndedAct extends Omit<Place, "account"> {
  readonly outcome: "done" | "not-done" | "gone";
  readonly flags: readonly string[];
}

/** Both rows of a command; without the second one, it was cut. */
export interface ActEntry {
  readonly row: number;
  readonly begun: BegunAct;
  readonly ended: EndedAct | null;
}

/** The state of a line of the plan, and the act that `undo` takes back. */
export interface ActState {
  readonly state: "open" | "cut" | "done" | "undone" | "gone";
  readonly undo: Act | null;
}

/** Returns the state of each line that a journal has rows of, by its key; the newest row decides. */
export function statesOf(entries: readonly ActEntry[]): Map<string, ActState> {
  const states = new Map<string, ActState>();
  for (const { begun, ended } of entries) {
    const { undo = null } = states.get(begun.key) ?? {};
    const isDone = ended?.outcome === "done";
    if (ended === null) states.set(begun.key, { state: "cut", undo });
    else if (ended.outcome === "gone") states.set(begun.key, { state: "gone", undo: null });
    else if (begun.isUndo) states.set(begun.key, { state: isDone ? "undone" : "done", undo });
    else if (isDone) states.set(begun.key, { state: "done", undo: undoOf(begun, ended) });
    else states.set(begun.key, { state: "open", undo });
  }
  return states;
}

// A flag that the mail had before is not taken back.
function undoOf(begun: BegunAct, { folder, uidvalidity, uid, flags }: EndedAct): Act | null {
  const { key, id, account, mail, command, target } = begun;
  const { messageId, received, size } = mail;
  const known = { messageId, received, size, flags };
  const act = { key, id, account, folder, uidvalidity, uid, isUndo: true, known };
  if (command === "move") return { ...act, command, target: begun.folder };
  return hasFlag(mail, target) ? null : { ...act, command: "remove", target };
}

/** Returns why a mail is left alone; null if the command may be sent. */
export function reasonToLeave({ known, folder, isUndo }: Act, mail: SeenMail | undefined) {
  const advice = isUndo ? "it stays where it is" : "import again and make a new plan";
  if (mail === undefined) return `the mail is no longer at its UID in ${folder}; ${advice}`;
  return isSame(known, mail) ? null : `another mail is at its UID in ${folder}; ${advice}`;
}

/** Returns whether a mail has other flags than expected. */
export function isChanged({ known: { flags } }: Act, mail: SeenMail): boolean {
  return flags !== undefined && flags.join(" ") !== mail.flags.join(" ");
}

/** Returns whether a mail lacks the flag to add, or has the flag to remove. */
export function needsCommand({ command, target }: Act, mail: SeenMail): boolean {
  return hasFlag(mail, target) !== (command === "add");
}

/** Finds out from the mail now whether a command on flags took effect. */
export function settleFlag(begun: BegunAct, mail: SeenMail | undefined): EndedAct {
  if (mail === undefined || !isSame(begun.mail, mail)) return endOf(begun, "gone");
  const outcome = needsCommand(begun, mail) ? "not-done" : "done";
  return { ...endOf(begun, outcome), flags: mail.flags };
}

/** Finds out whether moves took effect, from the mails in the source and those that arrived since. */
export function settleMoves(
  acts: readonly BegunAct[],
  source: ReadonlyMap<number, SeenMail>,
  arrived: Iterable<SeenMail>,
): EndedAct[] {
  const left = new Set(arrived);
  return acts.map((begun) => {
    const { mail, arrival, target: folder } = begun;
    const here = source.get(begun.uid);
    if (here !== undefined && isSame(mail, here)) return endOf(begun, "not-done");
    if (arrival === null) return endOf(begun, "gone");
    const same = [...left].filter((one) => one.uid >= arrival.uidnext && isSame(mail, one));
    const found = same.find((one) => one.flags.join(" ") === mail.flags.join(" ")) ?? same[0];
    if (found === undefined) return endOf(begun, "gone");
    left.delete(found); // of several copies, each is one mail
    return endOf(begun, "done", { ...arrival, folder, uid: found.uid });
  });
}

/** Returns the row after a command; a moved mail keeps its flags. */
export function endOf(
  begun: BegunAct,
  outcome: EndedAct["outcome"],
  { folder, uidvalidity, uid }: Omit<Place, "account"> = begun,
): EndedAct {
  return { outcome, folder, uidvalidity, uid, flags: begun.mail.flags };
}

function isSame(known: Act["known"], mail: SeenMail): boolean {
  const names = ["messageId", "received", "size"] as const;
  return names.every((name) => (known[name] ?? mail[name]) === mail[name]);
}

// Flags and keywords ignore case (RFC 9051).
function hasFlag({ flags }: SeenMail, flag: string): boolean {
  return flags.some((one) => one.toLowerCase() === flag.toLowerCase());
}
