import { type CliContext, CliError, printable } from "evaluator-kit";
import type { FetchMessageObject, ImapFlow } from "imapflow";
import type { openActJournal } from "./act-journal.ts";
import {
  type Act,
  type ActEntry,
  type BegunAct,
  isChanged,
  needsCommand,
  reasonToLeave,
  type SeenMail,
  settleAct,
} from "./act-states.ts";
import { connect, MissingFolder, openFolder, takeRefusal, toMailboxError } from "./connect.ts";
import { fetchMails, searchUids } from "./fetch-mails.ts";
import { parseMailboxUrl } from "./mailbox-url.ts";
import type { Note } from "./plan-line.ts";
import { mailId, receivedAt } from "./read-message.ts";
import { isBusy, quoteServer, findRefusal } from "./refusals.ts";

type ActJournal = ReturnType<typeof openActJournal>;

interface ActReport {
  done: number;
  readonly left: Note[];
  readonly kept: Note[];
}

/** Signs in, settles commands that were cut, and runs acts in groups, until an interruption. */
export async function runActs(
  { account, journal }: { readonly account: string; readonly journal: ActJournal },
  context: CliContext,
  findActs: (client: ImapFlow) => Promise<Act[]>,
): Promise<ActReport> {
  const address = parseMailboxUrl(`${account}/INBOX`);
  const client = await connect(address, context);
  const report: ActReport = { done: 0, left: [], kept: [] };
  try {
    const unknownKeys = await settleCut({ client, journal, report });
    // A second command would make the result of the first one unreadable.
    const acts = (await findActs(client)).filter(({ key }) => !unknownKeys.has(key));
    for (const group of inGroups(acts)) {
      if (!context.signal.aborted) await runGroup(group, { client, journal, report });
    }
    return report;
  } catch (error) {
    if (!isBusy(error)) throw toMailboxError(error, address);
    const words = quoteServer(findRefusal(error)?.words);
    const problem = `${address.host} is busy. Run the command again later.${words}`;
    throw new CliError(problem, { cause: error });
  } finally {
    await client.logout().catch(() => client.close());
  }
}

// Some servers refuse long commands.
const GROUP = 100;

function inGroups(acts: readonly Act[]): Iterable<Act[]> {
  const moves = acts.filter(({ command }) => command === "move");
  const flags = acts.filter(({ command }) => command !== "move");
  return Map.groupBy([...flags, ...moves], ({ folder, uidvalidity, command, target }, index) =>
    JSON.stringify([folder, uidvalidity, command, target, Math.floor(index / GROUP)]),
  ).values();
}

interface Session {
  readonly client: ImapFlow;
  readonly journal: ActJournal;
  readonly report: ActReport;
}

/** Finds out about commands that were cut; returns the keys of those about which nothing is known yet. */
async function settleCut({ client, journal, report }: Session): Promise<Set<string>> {
  const cut = journal.entries().filter(({ ended: endedAct }) => endedAct === null);
  const groups = Map.groupBy(cut, ({ begun: { folder, uidvalidity, target, arrival } }) =>
    JSON.stringify([folder, uidvalidity, target, arrival]),
  );
  const unknownKeys = new Set<string>();
  for (const group of groups.values()) {
    const endedActEntries = await settle(group, client);
    journal.end(endedActEntries);
    for (const { begun: begunAct } of noteUnknown(group, endedActEntries, report))
      unknownKeys.add(begunAct.key);
  }
  return unknownKeys;
}

/** Reports the commands that are not settled, and returns them. */
function noteUnknown(
  begunActEntries: readonly ActEntry[],
  endedActEntries: readonly ActEntry[],
  report: ActReport,
) {
  const rows = new Set(endedActEntries.map(({ row }) => row));
  const unknown = begunActEntries.filter(({ row }) => !rows.has(row));
  const why = "the server does not hand it out now, so its change is not known; run again later";
  report.left.push(...unknown.map(({ begun: { id } }) => ({ id, why })));
  return unknown;
}

async function runGroup(acts: readonly Act[], { client, journal, report }: Session): Promise<void> {
  const [first] = acts as [Act];
  const seenLook = await look(first, listUids(acts), client);
  if (seenLook === null && !first.isUndo) throw otherFolder(first);
  const arrival = first.command === "move" ? await arrivalIn(first.target, client) : null;
  const refusal = whyRefused(first, { client, arrival });
  const ready = acts.flatMap((act) => {
    const mail = seenLook?.mails.get(act.uid);
    const why = seenLook?.hidden.get(act.uid) ?? reasonToLeave(act, mail) ?? refusal;
    if (why !== null) report.left.push({ id: act.id, why });
    return mail === undefined || why !== null ? [] : { ...act, mail, arrival };
  });
  const begunActEntries = journal.begin(ready);
  const { copied: copiedMap, words } = await sendCommand(ready, client);
  const endedActEntries = await settle(begunActEntries, client, copiedMap);
  journal.end(endedActEntries);
  noteUnknown(begunActEntries, endedActEntries, report);
  for (const { begun: act, ended: after } of endedActEntries) {
    if (after?.isDone === true) report.done += 1;
    else report.left.push({ id: act.id, why: words || "it changed just now" });
    if (isChanged(act, act.mail))
      report.kept.push({ id: act.id, why: "its flags changed since, and stay" });
  }
}

/** Returns the error of a folder that is not the one of a plan. */
export function otherFolder({ folder, uidvalidity }: Pick<Act, "folder" | "uidvalidity">) {
  const problem = printable`${folder} is missing or has another UIDVALIDITY than the plan`;
  return new CliError(`${problem} (${uidvalidity}). Import again and make a new plan.`);
}

/** Returns why a server cannot run a command; null if it can. */
function whyRefused(
  { command, target, folder }: Act,
  { client: { capabilities, mailbox }, arrival }: { client: ImapFlow; arrival: Arrival },
) {
  const lacking = ["UIDPLUS", "MOVE"].filter((name) => !capabilities.has(name)).join(" and no ");
  if (command === "move" && lacking === "") {
    // Without it a moved mail could be taken for another one.
    const problem = `moving to ${target} is refused, as the server does not give its UIDNEXT`;
    return arrival === null ? problem : null;
  }
  if (command === "move") return `moving to ${target} is refused, as the server has no ${lacking}`;
  const { permanentFlags } = mailbox || {};
  const isKept = ["\\*", target].some((flag) => permanentFlags?.has(flag) !== false);
  if (command === "remove" || isKept) return null;
  return `${target} is refused, as PERMANENTFLAGS of ${folder} has no \\*`;
}

interface Look {
  readonly mails: ReadonlyMap<number, SeenMail>;
  /** Mails that are there, and why the server does not hand them out. */
  readonly hidden: ReadonlyMap<number, string>;
}

const marks = {
  query: { flags: true, envelope: true, internalDate: true, size: true },
  isWhole: ({ flags, envelope, internalDate, size }: FetchMessageObject) =>
    [flags, envelope, internalDate, size].every((field) => field !== undefined),
};

/** Returns the mails at some UIDs; null if the folder is missing or has another UIDVALIDITY. */
async function look(
  { account, folder, uidvalidity }: Pick<Act, "account" | "folder" | "uidvalidity">,
  range: string,
  client: ImapFlow,
): Promise<Look | null> {
  const wantedUids = range.includes(":") ? [] : range.split(",").map(Number);
  const openedFolder = await openFolder(client, { account, folder }, { readOnly: false }).catch(
    toClosed,
  );
  if (typeof openedFolder === "string") {
    return {
      mails: new Map(),
      hidden: new Map([0, ...wantedUids].map((uid) => [uid, openedFolder])),
    };
  }
  if (openedFolder?.uidValidity !== BigInt(uidvalidity)) return null;
  // Some servers enable CONDSTORE without naming it.
  if (openedFolder.highestModseq !== undefined) client.enabled.add("CONDSTORE");
  const mails = new Map<number, SeenMail>();
  const reasons = new Map<number, string>();
  const uids = wantedUids.length > 0 ? wantedUids : await searchUids(client, { uid: range });
  for await (const { uid, message, why } of fetchMails(client, uids, marks)) {
    if (message !== null) mails.set(uid, toSeenMail(message));
    else if (why !== null) reasons.set(uid, `${why}; run again later`);
  }
  return { mails, hidden: reasons };
}

/** Returns null for a folder that is missing, and why another one is not opened. */
function toClosed(error: unknown): null | string {
  if (error instanceof MissingFolder) return null;
  if (error instanceof CliError) return error.message;
  throw error;
}

function toSeenMail({ uid, envelope, ...mail }: FetchMessageObject): SeenMail {
  const messageId = envelope?.messageId?.replace(/[<>\s]/g, "") ?? "";
  const receivedTime = receivedAt(mail);
  const flags = [...(mail.flags ?? [])].filter((flag) => flag !== "\\Recent").toSorted();
  const modseq = mail.modseq?.toString() ?? null;
  return {
    uid,
    id: mailId({ ...mail, messageId, received: receivedTime }),
    messageId,
    flags,
    modseq,
  };
}

type Arrival = BegunAct["arrival"];

/** Returns where mails arrive in a folder; null if the server does not give it. */
async function arrivalIn(folder: string, client: ImapFlow): Promise<Arrival> {
  const status = await client.status(folder, { uidNext: true, uidValidity: true });
  const { uidNext: uidnext, uidValidity } = status || {};
  if (uidnext === undefined || uidValidity === undefined) return null;
  return { uidvalidity: Number(uidValidity), uidnext };
}

interface SentCommand {
  /** The pairs of COPYUID. */
  readonly copied?: ReadonlyMap<number, number> | undefined;
  /** Why the server refused it; empty if it did not. */
  readonly words: string;
}

/** Sends the command of a group, if a mail needs it. */
async function sendCommand(acts: readonly BegunAct[], client: ImapFlow): Promise<SentCommand> {
  const [first, ...others] = acts.filter((act) => needsCommand(act, act.mail));
  if (first === undefined) return { words: "" };
  const { command, target } = first;
  const uids = listUids([first, ...others]);
  takeRefusal(client); // that of another command
  if (command === "move") {
    const movedResult = await client.messageMove(uids, target, { uid: true });
    return { copied: (movedResult || {}).uidMap, words: listWords(movedResult, client) };
  }
  // A change since the mails were looked at has a higher one.
  const modseqs = acts.map(({ mail }) => BigInt(mail.modseq ?? 0));
  const unchangedSince = modseqs.reduce((one, other) => (one > other ? one : other));
  const change = command === "add" ? "messageFlagsAdd" : "messageFlagsRemove";
  const isSet = await client[change](uids, [target], { uid: true, unchangedSince, silent: true });
  return { words: listWords(isSet, client) };
}

function listWords(result: unknown, client: ImapFlow): string {
  if (result !== false) return "";
  return `the server refused it.${quoteServer(findRefusal(takeRefusal(client))?.words)}`;
}

/**
 * Finds out about the commands of a group: by COPYUID, else by a look at the mails. Leaves out those
 * whose mail the server does not hand out: they may have taken effect.
 */
async function settle(
  entries: readonly ActEntry[],
  client: ImapFlow,
  copiedMap?: ReadonlyMap<number, number>,
): Promise<ActEntry[]> {
  const acts = entries
    .map(({ begun: begunAct }) => begunAct)
    .filter(({ uid }) => copiedMap?.has(uid) !== true);
  const [first] = acts;
  const source = first && (await look(first, listUids(acts), client));
  const { account = "", target: folder = "", arrival = null } = first ?? {};
  const target =
    arrival && (await look({ ...arrival, account, folder }, `${arrival.uidnext}:*`, client));
  const seenMails = [...(target?.mails.values() ?? [])];
  return entries.flatMap(({ row, begun: begunAct }) => {
    const uid = copiedMap?.get(begunAct.uid);
    const currentSeenMails = uid === undefined ? seenMails : [{ ...begunAct.mail, uid }];
    const here = source?.mails.get(begunAct.uid);
    const endedAct = settleAct(begunAct, here, currentSeenMails);
    const mayHaveMoved = here === undefined && (target?.hidden.size ?? 0) > 0;
    const isUnknown =
      source?.hidden.has(begunAct.uid) === true || (!endedAct.isDone && mayHaveMoved);
    return uid === undefined && isUnknown ? [] : [{ row, begun: begunAct, ended: endedAct }];
  });
}

function listUids(acts: readonly Act[]): string {
  return acts.map(({ uid }) => uid).join(",");
}
