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
import { connect, isBusy, openFolder, toMailboxError } from "./connect.ts";
import { parseMailboxUrl } from "./mailbox-url.ts";
import { mailId } from "./sync-folder.ts";

type ActJournal = ReturnType<typeof openActJournal>;

/** Why a mail, given by its id, is left alone or keeps a change. */
type Note = Readonly<Record<"id" | "why", string>>;

interface ActReport {
  done: number;
  readonly left: Note[];
  readonly kept: Note[];
}

/** Signs in, settles commands that were cut, and runs acts in groups, until an interruption. */
export async function runActs(
  { account, journal }: { readonly account: string; readonly journal: ActJournal },
  { env, signal }: CliContext,
  findActs: (client: ImapFlow) => Promise<Act[]>,
): Promise<ActReport> {
  const address = parseMailboxUrl(`${account}/INBOX`);
  const client = await connect(address, env);
  const report: ActReport = { done: 0, left: [], kept: [] };
  try {
    const cut = journal.entries().filter(({ ended }) => ended === null);
    journal.end(await settle(cut, client));
    for (const group of inGroups(await findActs(client))) {
      if (!signal.aborted) await runGroup(group, { client, journal, report });
    }
    return report;
  } catch (error) {
    if (!isBusy(error)) throw toMailboxError(error, address);
    throw new CliError(`${address.host} is busy. Run the command again later.`, { cause: error });
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

async function runGroup(
  acts: readonly Act[],
  { client, journal, report }: { client: ImapFlow; journal: ActJournal; report: ActReport },
): Promise<void> {
  const [first] = acts as [Act];
  const seen = await look(first, uidsOf(acts), client);
  if (seen === null && !first.isUndo) throw otherFolder(first);
  const refusal = refusalOf(first, client);
  const arrival = first.command === "move" ? await arrivalIn(first.target, client) : null;
  const ready = acts.flatMap((act) => {
    const mail = seen?.get(act.uid);
    const why = reasonToLeave(act, mail) ?? refusal;
    if (why !== null) report.left.push({ id: act.id, why });
    return mail === undefined || why !== null ? [] : { ...act, mail, arrival };
  });
  const begun = journal.begin(ready);
  const ended = await settle(begun, client, await sendCommand(ready, client));
  journal.end(ended);
  for (const { begun: act, ended: after } of ended) {
    if (after?.isDone === true) report.done += 1;
    else report.left.push({ id: act.id, why: "it changed just now, or the server refused it" });
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
function refusalOf({ command, target, folder }: Act, { capabilities, mailbox }: ImapFlow) {
  const lacking = ["UIDPLUS", "MOVE"].filter((name) => !capabilities.has(name)).join(" and no ");
  if (command === "move" && lacking === "") return null;
  if (command === "move") return `moving to ${target} is refused, as the server has no ${lacking}`;
  const { permanentFlags } = mailbox || {};
  const isKept = ["\\*", target].some((flag) => permanentFlags?.has(flag) !== false);
  if (command === "remove" || isKept) return null;
  return `${target} is refused, as PERMANENTFLAGS of ${folder} has no \\*`;
}

/** Returns the mails at some UIDs; null if the folder is missing or has another UIDVALIDITY. */
async function look(
  { account, folder, uidvalidity }: Pick<Act, "account" | "folder" | "uidvalidity">,
  range: string,
  client: ImapFlow,
): Promise<Map<number, SeenMail> | null> {
  const opened = await openFolder(client, { account, folder }, { readOnly: false }).catch(toNull);
  if (opened?.uidValidity !== BigInt(uidvalidity)) return null;
  // Some servers enable CONDSTORE without naming it.
  if (opened.highestModseq !== undefined) client.enabled.add("CONDSTORE");
  const query = { flags: true, envelope: true, internalDate: true, size: true };
  const fetched = await client.fetchAll(range, query, { uid: true });
  // A server may report other mails, with their flags alone.
  const mails = fetched.filter(({ envelope }) => envelope !== undefined);
  return new Map(mails.map((mail) => [mail.uid, toSeenMail(mail)]));
}

function toNull(error: unknown): null {
  if (error instanceof CliError) return null;
  throw error;
}

function toSeenMail({ uid, envelope, internalDate, ...mail }: FetchMessageObject): SeenMail {
  const messageId = envelope?.messageId?.replace(/[<>\s]/g, "") ?? "";
  const received = internalDate && new Date(internalDate).toISOString();
  const flags = [...(mail.flags ?? [])].filter((flag) => flag !== "\\Recent").toSorted();
  const modseq = mail.modseq?.toString() ?? null;
  return { uid, id: mailId({ ...mail, messageId, received }), messageId, flags, modseq };
}

async function arrivalIn(folder: string, client: ImapFlow) {
  const status = await client.status(folder, { uidNext: true, uidValidity: true });
  const { uidNext: uidnext = 1, uidValidity = 0 } = status || {};
  return { uidvalidity: Number(uidValidity), uidnext };
}

/** Sends the command of a group, if a mail needs it, and returns the pairs of COPYUID. */
async function sendCommand(acts: readonly BegunAct[], client: ImapFlow) {
  const [first, ...others] = acts.filter((act) => needsCommand(act, act.mail));
  if (first === undefined) return undefined;
  const { command, target } = first;
  const uids = uidsOf([first, ...others]);
  if (command === "move") {
    return ((await client.messageMove(uids, target, { uid: true })) || {}).uidMap;
  }
  // A change since the mails were looked at has a higher one.
  const modseqs = acts.map(({ mail }) => BigInt(mail.modseq ?? 0));
  const unchangedSince = modseqs.reduce((one, other) => (one > other ? one : other));
  const change = command === "add" ? "messageFlagsAdd" : "messageFlagsRemove";
  await client[change](uids, [target], { uid: true, unchangedSince, silent: true });
  return undefined;
}

/** Finds out about the commands of a group: by COPYUID, else by a look at the mails. */
async function settle(
  entries: readonly ActEntry[],
  client: ImapFlow,
  copied?: ReadonlyMap<number, number>,
): Promise<ActEntry[]> {
  const acts = entries.map(({ begun }) => begun).filter(({ uid }) => copied?.has(uid) !== true);
  const [first] = acts;
  const source = first && (await look(first, uidsOf(acts), client));
  const { account = "", target: folder = "", arrival = null } = first ?? {};
  const target =
    arrival && (await look({ ...arrival, account, folder }, `${arrival.uidnext}:*`, client));
  const arrived = [...(target?.values() ?? [])];
  return entries.map(({ row, begun }) => {
    const uid = copied?.get(begun.uid);
    const moved = uid === undefined ? arrived : [{ ...begun.mail, uid }];
    return { row, begun, ended: settleAct(begun, source?.get(begun.uid), moved) };
  });
}

function uidsOf(acts: readonly Act[]): string {
  return acts.map(({ uid }) => uid).join(",");
}
