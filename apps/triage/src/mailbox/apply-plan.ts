import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type CliContext, CliError, exitCodes, printable, tooLittleEvidence } from "evaluator-kit";
import { interrupted, printCounted } from "evaluator-runs/commands";
import type { ImapFlow, ListResponse } from "imapflow";
import { openActJournal, toJournalPath } from "./act-journal.ts";
import { type Act, listStates } from "./act-states.ts";
import { findListed, listFolders } from "./folder-names.ts";
import { describeNotes, toKey, type PlanLine, readPlan } from "./plan-line.ts";
import { otherFolder, runActs } from "./run-acts.ts";

/** Applies the lines of a plan to a mailbox, and nothing else; returns the exit code. */
export async function applyPlan(
  { plan, yes, limit }: { plan: string; yes?: true | undefined; limit: number },
  context: CliContext,
): Promise<number> {
  const path = resolve(context.cwd, plan);
  const lines = await readPlan(path);
  using journal = openActJournal(path);
  const openLines = () => {
    const states = listStates(journal.entries());
    return lines.filter((line) => states.get(toKey(line))?.isOpen ?? true);
  };
  const [first] = openLines();
  if (first === undefined) {
    context.stderr.write(printable`Nothing to do: no line of ${path} is open.` + "\n");
    return exitCodes.done;
  }
  if (yes !== true) checkPromises(openLines(), path);
  const report = await runActs({ account: first.account, journal }, context, async (client) => {
    const folders = await listFolders(client);
    const find = (name: string) => findListed(name, folders, client)?.path;
    // Also beyond the limit: a plan that fails later is not half applied.
    const acts = openLines().map((line) => toAct(line, { folders, find }));
    await checkFolders(acts, folders, client);
    return acts.slice(0, limit);
  });
  const remainingCount = openLines().length;
  const more = remainingCount > 0 ? `, ${printCounted(remainingCount, "mail")} still open` : "";
  return describe(
    report,
    `Applied ${printCounted(report.done, "mail")}${more}. "undo" takes it back.`,
    context,
  );
}

function checkPromises(lines: readonly PlanLine[], path: string): void {
  const rules = new Set(lines.flatMap(({ evidence, rule }) => (evidence === null ? [rule] : [])));
  if (rules.size === 0) return;
  const problem = printable`No promise covers all mails of the rule ${[...rules].join("; ")}`;
  const advice = printable`Read ${path}, and then apply it with --yes.`;
  throw tooLittleEvidence(`${problem}. ${advice}`);
}

interface Folders {
  readonly folders: readonly ListResponse[];
  /** Returns the name of a folder on the server. */
  readonly find: (name: string) => string | undefined;
}

/** Throws a CliError if a folder of the mails is missing or was made anew; nothing is done then. */
async function checkFolders(
  acts: readonly Act[],
  folders: readonly ListResponse[],
  client: ImapFlow,
) {
  for (const act of new Map(acts.map((act) => [act.folder, act])).values()) {
    const isListed = folders.some(({ path }) => path === act.folder);
    const status = isListed && (await client.status(act.folder, { uidValidity: true }));
    const isOther = status ? status.uidValidity !== BigInt(act.uidvalidity) : !isListed;
    if (isOther) throw otherFolder(act);
  }
}

/** @throws CliError if there is no such folder; nothing is done then. */
function toAct(line: PlanLine, folders: Folders): Act {
  const { id, account, uidvalidity, uid, messageId, action } = line;
  const folder = folders.find(line.folder) ?? line.folder;
  const place = { key: toKey(line), id, account, folder, uidvalidity, uid };
  // Of several equal mails, the ids end in #2, #3, …
  const knownMail = messageId === null ? { id: id.replace(/#\d{1,9}$/, "") } : { messageId };
  const flag =
    { keyword: line.target, flag: "\\Flagged", read: "\\Seen" }[action as string] ?? null;
  const target = flag ?? findTarget(line, folders);
  return {
    ...place,
    isUndo: false,
    known: knownMail,
    command: flag === null ? "move" : "add",
    target,
  };
}

function findTarget({ action, target }: PlanLine, { folders, find }: Folders): string {
  // Gmail has no folder for the archive: an archived mail is only in "All Mail".
  const uses = action === "junk" ? ["\\Junk"] : ["\\Archive", "\\All"];
  const ofUse = uses.flatMap((use) => folders.find(({ specialUse }) => specialUse === use) ?? []);
  const folderPath = action === "move" ? find(target ?? "") : ofUse[0]?.path;
  if (folderPath !== undefined) return folderPath;
  const name = printable`${target ?? `with the special use ${uses[0]}`}`;
  throw new CliError(`There is no folder ${name}, so nothing was done. Make it, or a new plan.`);
}

/** Takes back what `apply` did with a plan; returns the exit code. */
export async function undoPlan(plan: string, context: CliContext): Promise<number> {
  const path = resolve(context.cwd, plan);
  const nothing = printable`Nothing of ${path} was applied. Check the path of the plan.`;
  if (!existsSync(toJournalPath(path))) throw new CliError(nothing);
  using journal = openActJournal(path);
  const [first] = journal.entries();
  if (first === undefined) throw new CliError(nothing);
  const { account } = first.begun;
  const report = await runActs({ account, journal }, context, async () =>
    [...listStates(journal.entries()).values()].flatMap(({ undo }) => undo ?? []),
  );
  return describe(report, `Undid ${printCounted(report.done, "mail")}.`, context);
}

function describe(
  { left: remainingRecords, kept: keptRecords }: Awaited<ReturnType<typeof runActs>>,
  summary: string,
  { stderr, signal }: CliContext,
): number {
  stderr.write(describeNotes([...remainingRecords, ...keptRecords]));
  if (signal.aborted) throw interrupted(`Interrupted. ${summary}`, signal);
  stderr.write(`${summary}\n`);
  return remainingRecords.length > 0 ? exitCodes.unanswered : exitCodes.done;
}
