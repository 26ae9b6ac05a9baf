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
  doneCount: number;
  readonly leftNotes: Note[];
  readonly keptNotes: Note[];
}

/** Signs in, settles commands that were cut, and runs acts in groups, until an interruption. */
export async function runActs(
  { account, journal }: { readonly account: string; readonly journal: ActJournal },
  context: CliContext,
  findActs: (client: ImapFlow) => Promise<Act[]>,
): Promise<ActReport> {
  const address = parseMailboxUrl(`${account}/INBOX`);
  const client = await connect(address, context);
  const report: ActReport = { doneCount: 0, leftNotes: [], keptNotes: [] };
  try {
    const unknownKeys = await settleCut({ client, journal, report });
    // A second command would make the result of the first one unreadable.
    const foundActs = (await findActs(client)).filter(({ key }) => !unknownKeys.has(key));
    for (const actGroup of inGroups(foundActs)) {
      if (!context.signal.aborted) await runGroup(actGroup, { client, journal, report });
    }
    return report;
  } catch (error) {
    if (!isBusy(error)) throw toMailboxError(error, address);
    const serverWords = quoteServer(findRefusal(error)?.serverWords);
    const problem = `${address.host} is busy. Run the command again later.${serverWords}`;
    throw new CliError(problem, { cause: error });
  } finally {
    await client.logout().catch(() => client.close());
  }
}

// Some servers refuse long commands.
const GROUP_SIZE = 100;

function inGroups(allActs: readonly Act[]): Iterable<Act[]> {
  const moveActs = allActs.filter(({ command }) => command === "move");
  const flagActs = allActs.filter(({ command }) => command !== "move");
  return Map.groupBy(
    [...flagActs, ...moveActs],
    ({ folder, uidvalidity, command, target }, actIndex) =>
      JSON.stringify([folder, uidvalidity, command, target, Math.floor(actIndex / GROUP_SIZE)]),
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
    const endedActEntries = await settleEntries(group, client);
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
  const endedRows = new Set(endedActEntries.map(({ row }) => row));
  const unknownEntries = begunActEntries.filter(({ row }) => !endedRows.has(row));
  const why = "the server does not send it, so its change is unknown; run again later";
  report.leftNotes.push(...unknownEntries.map(({ begun: { id } }) => ({ id, why })));
  return unknownEntries;
}

async function runGroup(acts: readonly Act[], { client, journal, report }: Session): Promise<void> {
  const [firstAct] = acts as [Act];
  const seenLook = await look(firstAct, listUids(acts), client);
  if (seenLook === null && !firstAct.isUndo) throw otherFolder(firstAct);
  const arrival = firstAct.command === "move" ? await arrivalIn(firstAct.target, client) : null;
  const refusal = whyRefused(firstAct, { client, arrival });
  const readyActs = acts.flatMap((act) => {
    const seenMail = seenLook?.mailsByUid.get(act.uid);
    const why = seenLook?.hiddenReasons.get(act.uid) ?? reasonToLeave(act, seenMail) ?? refusal;
    if (why !== null) report.leftNotes.push({ id: act.id, why });
    return seenMail === undefined || why !== null ? [] : { ...act, mail: seenMail, arrival };
  });
  const begunActEntries = journal.begin(readyActs);
  const { copiedUids, serverWords } = await sendCommand(readyActs, client);
  const endedActEntries = await settleEntries(begunActEntries, client, copiedUids);
  journal.end(endedActEntries);
  noteUnknown(begunActEntries, endedActEntries, report);
  for (const { begun: begunAct, ended: endedAct } of endedActEntries) {
    if (endedAct?.isDone === true) report.doneCount += 1;
    else report.leftNotes.push({ id: begunAct.id, why: serverWords || "it changed just now" });
    if (isChanged(begunAct, begunAct.mail))
      report.keptNotes.push({ id: begunAct.id, why: "its flags changed since, and stay" });
  }
}

/** Returns the error of a folder that is not the one of a plan. */
export function otherFolder({ folder, uidvalidity }: Pick<Act, "folder" | "uidvalidity">) {
  const problem = printable`${folder} is missing, or has another UIDVALIDITY than the plan`;
  return new CliError(`${problem} (${uidvalidity}). Import and plan again.`);
}

/** Returns why a server cannot run a command; null if it can. */
function whyRefused(
  { command, target, folder }: Act,
  { client: { capabilities, mailbox }, arrival }: { client: ImapFlow; arrival: Arrival },
) {
  const lacking = ["UIDPLUS", "MOVE"].filter((name) => !capabilities.has(name)).join(" and no ");
  if (command === "move" && lacking === "") {
    // Without it a moved mail could be taken for another one.
    const problem = `moving to ${target} is refused: the server gives no UIDNEXT`;
    return arrival === null ? problem : null;
  }
  if (command === "move") return `moving to ${target} is refused: the server has no ${lacking}`;
  const { permanentFlags } = mailbox || {};
  const isFlagKept = ["\\*", target].some((flagName) => permanentFlags?.has(flagName) !== false);
  if (command === "remove" || isFlagKept) return null;
  return `${target} is refused: PERMANENTFLAGS of ${folder} has no \\*`;
}

interface Look {
  readonly mailsByUid: ReadonlyMap<number, SeenMail>;
  /** Mails that are there, and why the server does not hand them out. */
  readonly hiddenReasons: ReadonlyMap<number, string>;
}

const marks = {
  query: { flags: true, envelope: true, internalDate: true, size: true },
  isWhole: ({ flags, envelope, internalDate, size }: FetchMessageObject) =>
    [flags, envelope, internalDate, size].every((mailField) => mailField !== undefined),
};

/** Returns the mails at some UIDs; null if the folder is missing, or has another UIDVALIDITY. */
async function look(
  { account, folder, uidvalidity }: Pick<Act, "account" | "folder" | "uidvalidity">,
  uidRange: string,
  client: ImapFlow,
): Promise<Look | null> {
  const wantedUids = uidRange.includes(":") ? [] : uidRange.split(",").map(Number);
  const openedFolder = await openFolder(client, { account, folder }, { readOnly: false }).catch(
    toClosed,
  );
  if (typeof openedFolder === "string") {
    return {
      mailsByUid: new Map(),
      hiddenReasons: new Map([0, ...wantedUids].map((uid) => [uid, openedFolder])),
    };
  }
  if (openedFolder?.uidValidity !== BigInt(uidvalidity)) return null;
  // Some servers enable CONDSTORE without naming it.
  if (openedFolder.highestModseq !== undefined) client.enabled.add("CONDSTORE");
  const mailsByUid = new Map<number, SeenMail>();
  const hiddenReasons = new Map<number, string>();
  const uids = wantedUids.length > 0 ? wantedUids : await searchUids(client, { uid: uidRange });
  for await (const { uid, message, missingReason } of fetchMails(client, uids, marks)) {
    if (message !== null) mailsByUid.set(uid, toSeenMail(message));
    else if (missingReason !== null) hiddenReasons.set(uid, `${missingReason}; run again later`);
  }
  return { mailsByUid, hiddenReasons };
}

/** Returns null for a folder that is missing, and why another one is not opened. */
function toClosed(error: unknown): null | string {
  if (error instanceof MissingFolder) return null;
  if (error instanceof CliError) return error.message;
  throw error;
}

function toSeenMail({ uid, envelope, ...fetchedMail }: FetchMessageObject): SeenMail {
  const messageId = envelope?.messageId?.replace(/[<>\s]/g, "") ?? "";
  const receivedTime = receivedAt(fetchedMail);
  const mailFlags = [...(fetchedMail.flags ?? [])].filter((flag) => flag !== "\\Recent").toSorted();
  const modseq = fetchedMail.modseq?.toString() ?? null;
  return {
    uid,
    id: mailId({ ...fetchedMail, messageId, received: receivedTime }),
    messageId,
    flags: mailFlags,
    modseq,
  };
}

type Arrival = BegunAct["arrival"];

/** Returns where mails arrive in a folder; null if the server does not give it. */
async function arrivalIn(folder: string, client: ImapFlow): Promise<Arrival> {
  const folderStatus = await client.status(folder, { uidNext: true, uidValidity: true });
  const { uidNext: uidnext, uidValidity } = folderStatus || {};
  if (uidnext === undefined || uidValidity === undefined) return null;
  return { uidvalidity: Number(uidValidity), uidnext };
}

interface SentCommand {
  /** The pairs of COPYUID. */
  readonly copiedUids?: ReadonlyMap<number, number> | undefined;
  /** Why the server refused it; empty if it did not. */
  readonly serverWords: string;
}

/** Sends the command of a group, if a mail needs it. */
async function sendCommand(acts: readonly BegunAct[], client: ImapFlow): Promise<SentCommand> {
  const [firstAct, ...otherActs] = acts.filter((act) => needsCommand(act, act.mail));
  if (firstAct === undefined) return { serverWords: "" };
  const { command, target } = firstAct;
  const uids = listUids([firstAct, ...otherActs]);
  takeRefusal(client); // that of another command
  if (command === "move") {
    const movedResult = await client.messageMove(uids, target, { uid: true });
    return { copiedUids: (movedResult || {}).uidMap, serverWords: listWords(movedResult, client) };
  }
  // A change since the mails were looked at has a higher one.
  const modseqs = acts.map(({ mail }) => BigInt(mail.modseq ?? 0));
  const unchangedSince = modseqs.reduce((one, other) => (one > other ? one : other));
  const change = command === "add" ? "messageFlagsAdd" : "messageFlagsRemove";
  const isSet = await client[change](uids, [target], { uid: true, unchangedSince, silent: true });
  return { serverWords: listWords(isSet, client) };
}

function listWords(commandResult: unknown, client: ImapFlow): string {
  if (commandResult !== false) return "";
  return `the server refused it.${quoteServer(findRefusal(takeRefusal(client))?.serverWords)}`;
}

/**
 * Finds out about the commands of a group: by COPYUID, else by a look at the mails. Leaves out those
 * whose mail the server does not hand out: they may have taken effect.
 */
async function settleEntries(
  entries: readonly ActEntry[],
  client: ImapFlow,
  copiedMap?: ReadonlyMap<number, number>,
): Promise<ActEntry[]> {
  const openActs = entries
    .map(({ begun: begunAct }) => begunAct)
    .filter(({ uid }) => copiedMap?.has(uid) !== true);
  const [firstAct] = openActs;
  const sourceLook = firstAct && (await look(firstAct, listUids(openActs), client));
  const { account = "", target: folder = "", arrival = null } = firstAct ?? {};
  const targetLook =
    arrival && (await look({ ...arrival, account, folder }, `${arrival.uidnext}:*`, client));
  const seenMails = [...(targetLook?.mailsByUid.values() ?? [])];
  return entries.flatMap(({ row, begun: begunAct }) => {
    const copiedUid = copiedMap?.get(begunAct.uid);
    const currentSeenMails =
      copiedUid === undefined ? seenMails : [{ ...begunAct.mail, uid: copiedUid }];
    const currentMail = sourceLook?.mailsByUid.get(begunAct.uid);
    const endedAct = settleAct(begunAct, currentMail, currentSeenMails);
    const mayHaveMoved = currentMail === undefined && (targetLook?.hiddenReasons.size ?? 0) > 0;
    const isUnknown =
      sourceLook?.hiddenReasons.has(begunAct.uid) === true || (!endedAct.isDone && mayHaveMoved);
    return copiedUid === undefined && isUnknown ? [] : [{ row, begun: begunAct, ended: endedAct }];
  });
}

function listUids(listedActs: readonly Act[]): string {
  return listedActs.map(({ uid }) => uid).join(",");
}
