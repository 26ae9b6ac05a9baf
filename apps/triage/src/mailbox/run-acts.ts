import { type CliContext, CliError } from "evaluator-kit";
import type { FetchMessageObject, ImapFlow } from "imapflow";
import type { ActJournal } from "./act-journal.ts";
import {
  type Act,
  type ActEntry,
  endOf,
  isChanged,
  needsCommand,
  reasonToLeave,
  type SeenMail,
  settleFlag,
  settleMoves,
} from "./act-states.ts";
import { connect, isBusy, LostConnection, openFolder, toMailboxError } from "./connect.ts";
import { parseMailboxUrl } from "./mailbox-url.ts";

/** A signed-in account, and the journal of a plan about it. */
export interface ActSession {
  readonly client: ImapFlow;
  readonly journal: ActJournal;
  readonly signal: AbortSignal;
}

/** Signs in, finds out about commands that were cut, and signs out after use. */
export async function withSession<TResult>(
  { account, journal }: { readonly account: string; readonly journal: ActJournal },
  { env, signal }: CliContext,
  use: (session: ActSession) => Promise<TResult>,
): Promise<TResult> {
  const address = parseMailboxUrl(`${account}/INBOX`);
  const client = await connect(address, env);
  try {
    const cut = journal.entries().filter(({ ended }) => ended === null);
    for (const group of inGroups(cut)) journal.end(await settle(group, client));
    return await use({ client, journal, signal });
  } catch (error) {
    if (!isBusy(error)) throw toMailboxError(error, address);
    throw new CliError(`${address.host} is busy. Run the command again later.`, { cause: error });
  } finally {
    await client.logout().catch(() => client.close());
  }
}

/** What happened to the mails of some acts. */
export interface ActReport {
  done: number;
  /** The ids of the mails that were left alone, by the reason. */
  readonly left: Map<string, string[]>;
  /** The ids of the mails whose flags a person changed after `apply`. */
  readonly changed: string[];
}

/** Runs acts in groups, flags before moves; an interruption ends it between two groups. */
export async function runActs(acts: readonly Act[], session: ActSession): Promise<ActReport> {
  const report: ActReport = { done: 0, left: new Map(), changed: [] };
  for (const group of inGroups(acts.map((begun) => ({ begun })))) {
    if (session.signal.aborted) break;
    await runGroup(
      group.map(({ begun }) => begun),
      session,
      report,
    );
  }
  return report;
}

// Some servers refuse long commands.
const GROUP = 100;

function inGroups<TEntry extends { readonly begun: Act }>(entries: readonly TEntry[]): TEntry[][] {
  const isMove = ({ begun }: TEntry) => Number(begun.command === "move");
  const sorted = entries.toSorted((one, other) => isMove(one) - isMove(other));
  const groups = Map.groupBy(sorted, ({ begun: { folder, uidvalidity, command, target } }, index) =>
    JSON.stringify([folder, uidvalidity, command, target, Math.floor(index / GROUP)]),
  );
  return [...groups.values()];
}

async function runGroup(acts: readonly Act[], session: ActSession, report: ActReport) {
  const { client, journal } = session;
  const [first] = acts as [Act];
  const seen = await look(first, uidsOf(acts), client);
  const refusal = refusalOf(first, client);
  const arrival = first.command === "move" ? await arrivalIn(first.target, client) : null;
  const ready = acts.flatMap((act) => {
    const mail = seen.get(act.uid);
    const why = reasonToLeave(act, mail) ?? refusal;
    if (why === null && mail !== undefined) return { ...act, mail, arrival };
    leave(report, act, why ?? "");
    return [];
  });
  if (ready.length === 0) return;
  const ended = await (arrival === null ? store : move)(journal.begin(ready), client);
  journal.end(ended);
  for (const { begun, ended: after } of ended) {
    if (after?.outcome === "done") report.done += 1;
    else leave(report, begun, "it changed at this moment, or the server refused the command");
    if (isChanged(begun, begun.mail)) report.changed.push(begun.id);
  }
}

function leave({ left }: ActReport, { id }: Act, why: string): void {
  left.set(why, [...(left.get(why) ?? []), id]);
}

/** Returns why a server cannot run a command; null if it can. */
function refusalOf({ command, target, folder }: Act, { capabilities, mailbox }: ImapFlow) {
  const lacking = ["UIDPLUS", "MOVE"].filter((name) => !capabilities.has(name)).join(" and no ");
  if (command === "move" && lacking === "") return null;
  if (command === "move") return `moving to ${target} is refused, as the server has no ${lacking}`;
  const { permanentFlags } = mailbox || {};
  const isKept = ["\\*", target].some((flag) => permanentFlags?.has(flag) !== false);
  return command === "remove" || isKept
    ? null
    : `${target} is refused, because PERMANENTFLAGS of ${folder} has no \\*`;
}

/** Returns the mails at some UIDs; none if the folder is gone or has another UIDVALIDITY. */
async function look(
  { account, folder, uidvalidity }: Pick<Act, "account" | "folder" | "uidvalidity">,
  range: string,
  client: ImapFlow,
): Promise<Map<number, SeenMail>> {
  const { mailbox: open } = client;
  const isOpen = open !== false && open.path === folder;
  const options = { readOnly: false };
  const mailbox = isOpen
    ? open
    : await openFolder(client, { account, folder }, options).catch(toNull);
  if (mailbox?.uidValidity !== BigInt(uidvalidity)) return new Map();
  const query = { flags: true, envelope: true, internalDate: true, size: true };
  const fetched = await client.fetchAll(range, query, { uid: true });
  // A server may report other mails, with their flags alone.
  const mails = fetched.filter(({ envelope }) => envelope !== undefined);
  return new Map(mails.map((mail) => [mail.uid, toSeenMail(mail)]));
}

function toNull(error: unknown): null {
  if (error instanceof CliError && !(error instanceof LostConnection)) return null;
  throw error;
}

function toSeenMail({
  uid,
  envelope,
  internalDate = "1970-01-01",
  size = 0,
  ...mail
}: FetchMessageObject): SeenMail {
  return {
    uid,
    messageId: envelope?.messageId?.replace(/[<>\s]/g, "") ?? "",
    received: new Date(internalDate).toISOString(),
    size,
    flags: [...(mail.flags ?? [])].filter((flag) => flag !== "\\Recent").toSorted(),
    modseq: mail.modseq?.toString() ?? null,
  };
}

async function arrivalIn(folder: string, client: ImapFlow) {
  const status = await client.status(folder, { uidNext: true, uidValidity: true });
  const { uidNext: uidnext = 1, uidValidity = 0 } = status || {};
  return { uidvalidity: Number(uidValidity), uidnext };
}

async function store(entries: readonly ActEntry[], client: ImapFlow): Promise<ActEntry[]> {
  const acts = entries.map(({ begun }) => begun).filter((act) => needsCommand(act, act.mail));
  const [first] = acts;
  if (first !== undefined) {
    // A change since the mails were looked at has a higher one.
    const modseqs = acts.map(({ mail }) => BigInt(mail.modseq ?? 0));
    const unchangedSince = modseqs.reduce((one, other) => (one > other ? one : other));
    const change = first.command === "add" ? "messageFlagsAdd" : "messageFlagsRemove";
    await client[change](uidsOf(acts), [first.target], { uid: true, unchangedSince, silent: true });
  }
  return await settle(entries, client);
}

async function move(entries: readonly ActEntry[], client: ImapFlow): Promise<ActEntry[]> {
  const acts = entries.map(({ begun }) => begun);
  const [{ target: folder, arrival }] = acts as [(typeof acts)[0]];
  const result = await client.messageMove(uidsOf(acts), folder, { uid: true });
  const { uidMap, uidValidity = arrival?.uidvalidity } = result || {};
  const uidvalidity = Number(uidValidity);
  const moved = entries.flatMap(({ row, begun }) => {
    const uid = uidMap?.get(begun.uid);
    return uid === undefined
      ? []
      : { row, begun, ended: endOf(begun, "done", { folder, uidvalidity, uid }) };
  });
  const others = entries.filter(({ begun }) => uidMap?.has(begun.uid) !== true);
  return [...moved, ...(await settle(others, client))];
}

/** Finds out about commands of one group by looking at the mails. */
async function settle(entries: readonly ActEntry[], client: ImapFlow): Promise<ActEntry[]> {
  const acts = entries.map(({ begun }) => begun);
  const [first] = acts;
  if (first === undefined) return [];
  const source = await look(first, uidsOf(acts), client);
  const { account, target: folder, arrival } = first;
  const toEnded = (ended: ActEntry["ended"][]) =>
    entries.map(({ row, begun }, at) => ({ row, begun, ended: ended[at] ?? null }));
  if (arrival === null) return toEnded(acts.map((act) => settleFlag(act, source.get(act.uid))));
  const arrived = await look({ ...arrival, account, folder }, `${arrival.uidnext}:*`, client);
  return toEnded(settleMoves(acts, source, arrived.values()));
}

function uidsOf(acts: readonly Act[]): string {
  return acts.map(({ uid }) => uid).join(",");
}
