import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type CliContext, CliError, exitCodes, printable, tooLittleEvidence } from "evaluator-kit";
import { interrupted, printCounted } from "evaluator-runs/commands";
import type { ImapFlow, ListResponse } from "imapflow";
import { openActJournal, toJournalPath } from "./act-journal.ts";
import { type Act, listStates } from "./act-states.ts";
import { findListed, listFolders } from "./folder-names.ts";
import { describeNotes, toMailKey, type PlanLine, readPlan } from "./plan-line.ts";
import { otherFolder, runActs } from "./run-acts.ts";

/** Applies the lines of a plan to a mailbox, and nothing else; returns the exit code. */
export async function applyPlan(
  { plan, yes, limit }: { plan: string; yes?: true | undefined; limit: number },
  context: CliContext,
): Promise<number> {
  const planPath = resolve(context.cwd, plan);
  const planLines = await readPlan(planPath);
  using journal = openActJournal(planPath);
  const openLines = () => {
    const actStates = listStates(journal.entries());
    return planLines.filter((planLine) => actStates.get(toMailKey(planLine))?.isOpen ?? true);
  };
  const [firstLine] = openLines();
  if (firstLine === undefined) {
    context.stderr.write(printable`No line of ${planPath} is open.` + "\n");
    return exitCodes.done;
  }
  if (yes !== true) checkPromises(openLines(), planPath);
  const actReport = await runActs(
    { account: firstLine.account, journal },
    context,
    async (client) => {
      const folders = await listFolders(client);
      const findPath = (folderName: string) => findListed(folderName, folders, client)?.path;
      // Also beyond the limit: a plan that fails later is not half applied.
      const plannedActs = openLines().map((planLine) =>
        toPlannedAct(planLine, { folders, findPath }),
      );
      await checkFolders(plannedActs, folders, client);
      return plannedActs.slice(0, limit);
    },
  );
  const remainingCount = openLines().length;
  const openText = remainingCount > 0 ? `, ${printCounted(remainingCount, "mail")} still open` : "";
  return describe(
    actReport,
    `Applied ${printCounted(actReport.doneCount, "mail")}${openText}. "undo" takes it back.`,
    context,
  );
}

function checkPromises(planLines: readonly PlanLine[], planPath: string): void {
  const ruleNames = new Set(
    planLines.flatMap(({ evidence, rule }) => (evidence === null ? [rule] : [])),
  );
  if (ruleNames.size === 0) return;
  const problem = printable`Rules without a promise for all mails: ${[...ruleNames].join("; ")}`;
  const advice = printable`Read ${planPath}, then apply it with --yes.`;
  throw tooLittleEvidence(`${problem}. ${advice}`);
}

interface Folders {
  readonly folders: readonly ListResponse[];
  /** Returns the name of a folder on the server. */
  readonly findPath: (folderName: string) => string | undefined;
}

/** Throws a CliError if a folder of the mails is missing or was made anew; nothing is done then. */
async function checkFolders(
  plannedActs: readonly Act[],
  folders: readonly ListResponse[],
  client: ImapFlow,
) {
  for (const folderAct of new Map(
    plannedActs.map((plannedAct) => [plannedAct.folder, plannedAct]),
  ).values()) {
    const isListed = folders.some(({ path }) => path === folderAct.folder);
    const folderStatus = isListed && (await client.status(folderAct.folder, { uidValidity: true }));
    const isOther = folderStatus
      ? folderStatus.uidValidity !== BigInt(folderAct.uidvalidity)
      : !isListed;
    if (isOther) throw otherFolder(folderAct);
  }
}

/** @throws CliError if there is no such folder; nothing is done then. */
function toPlannedAct(planLine: PlanLine, folders: Folders): Act {
  const { id, account, uidvalidity, uid, messageId, action } = planLine;
  const folderPath = folders.findPath(planLine.folder) ?? planLine.folder;
  const actPlace = { key: toMailKey(planLine), id, account, folder: folderPath, uidvalidity, uid };
  // Of several equal mails, the ids end in #2, #3, …
  const knownMail = messageId === null ? { id: id.replace(/#\d{1,9}$/, "") } : { messageId };
  const flagName =
    { keyword: planLine.target, flag: "\\Flagged", read: "\\Seen" }[action as string] ?? null;
  const target = flagName ?? findTarget(planLine, folders);
  return {
    ...actPlace,
    isUndo: false,
    known: knownMail,
    command: flagName === null ? "move" : "add",
    target,
  };
}

function findTarget({ action, target }: PlanLine, { folders, findPath }: Folders): string {
  // Gmail has no folder for the archive: an archived mail is only in "All Mail".
  const specialUses = action === "junk" ? ["\\Junk"] : ["\\Archive", "\\All"];
  const foldersOfUse = specialUses.flatMap(
    (wantedUse) => folders.find(({ specialUse }) => specialUse === wantedUse) ?? [],
  );
  const folderPath = action === "move" ? findPath(target ?? "") : foldersOfUse[0]?.path;
  if (folderPath !== undefined) return folderPath;
  const folderName = printable`${target ?? `with the special use ${specialUses[0]}`}`;
  throw new CliError(`There is no folder ${folderName}; nothing was done. Make it, or a new plan.`);
}

/** Takes back what `apply` did with a plan; returns the exit code. */
export async function undoPlan(planName: string, context: CliContext): Promise<number> {
  const planPath = resolve(context.cwd, planName);
  const nothing = printable`Nothing of ${planPath} was applied. Check its path.`;
  if (!existsSync(toJournalPath(planPath))) throw new CliError(nothing);
  using journal = openActJournal(planPath);
  const [firstEntry] = journal.entries();
  if (firstEntry === undefined) throw new CliError(nothing);
  const { account } = firstEntry.begun;
  const actReport = await runActs({ account, journal }, context, async () =>
    [...listStates(journal.entries()).values()].flatMap(({ undoAct }) => undoAct ?? []),
  );
  return describe(actReport, `Undid ${printCounted(actReport.doneCount, "mail")}.`, context);
}

function describe(
  { leftNotes, keptNotes }: Awaited<ReturnType<typeof runActs>>,
  summary: string,
  { stderr, signal }: CliContext,
): number {
  stderr.write(describeNotes([...leftNotes, ...keptNotes]));
  if (signal.aborted) throw interrupted(`Interrupted. ${summary}`, signal);
  stderr.write(`${summary}\n`);
  return leftNotes.length > 0 ? exitCodes.unanswered : exitCodes.done;
}
