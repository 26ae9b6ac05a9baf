import { resolve } from "node:path";
import { type CliContext, CliError, exitCodes, printable } from "evaluator-kit";
import { interrupted } from "evaluator-runs/commands";
import { printMails } from "evaluator-runs/source";
import type { ImapFlow } from "imapflow";
import { ActJournal } from "./act-journal.ts";
import { type Act, statesOf } from "./act-states.ts";
import { keyOf, type PlanLine, readPlan } from "./plan-line.ts";
import { type ActReport, runActs, withSession } from "./run-acts.ts";

/** The options of `apply`, with its argument. */
interface ApplyCommand {
  readonly plan: string;
  readonly yes?: boolean | undefined;
  readonly limit: number;
}

/** Does to a mailbox what the lines of a plan name, and nothing else; returns the exit code. */
export async function applyPlan(command: ApplyCommand, context: CliContext): Promise<number> {
  const path = resolve(context.cwd, command.plan);
  const lines = await readPlan(path);
  using journal = new ActJournal(path);
  const openLines = () => {
    const states = statesOf(journal.entries());
    return lines.filter((line) => /open|cut/.test(states.get(keyOf(line))?.state ?? "open"));
  };
  const open = openLines();
  const [{ account } = { account: null }] = open;
  if (account === null) {
    context.stderr.write(printable`Nothing to do: no line of ${path} is open.\n`);
    return exitCodes.done;
  }
  if (command.yes !== true) checkPromises(open, path);
  const report = await withSession({ account, journal }, context, async (session) => {
    const acts = await toActs(openLines().slice(0, command.limit), session.client);
    return await runActs(acts, session);
  });
  const left = openLines().length;
  const more = left > 0 ? `; ${printMails(left)} of the plan are still open` : "";
  return describe(report, { done: "Applied", next: `${more}. "undo" takes it back` }, context);
}

function checkPromises(lines: readonly PlanLine[], path: string): void {
  const rules = new Set(lines.flatMap(({ evidence, rule }) => (evidence === null ? [rule] : [])));
  if (rules.size === 0) return;
  const problem = printable`No promise covers all mails of the rule ${[...rules].join("; ")}`;
  const advice = printable`Read ${path}, and then apply it with --yes.`;
  throw new CliError(`${problem}. ${advice}`, { exitCode: exitCodes.notEnoughEvidence });
}

/** @throws CliError if a folder is missing or has another UIDVALIDITY; nothing is done then. */
async function toActs(lines: readonly PlanLine[], client: ImapFlow): Promise<Act[]> {
  const folders = await client.list();
  for (const { folder, uidvalidity } of new Map(lines.map((one) => [one.folder, one])).values()) {
    const isListed = folders.some(({ path }) => path === folder);
    const status = isListed && (await client.status(folder, { uidValidity: true }));
    if (status === false) throw missingFolder(folder);
    const { uidValidity: now } = status;
    if (now === BigInt(uidvalidity)) continue;
    const problem = printable`The plan is of UIDVALIDITY ${String(uidvalidity)} of ${folder}`;
    throw new CliError(`${problem}, and now it is ${now}. Import again and make a new plan.`);
  }
  return lines.map((line) => {
    const { id, account, folder, uidvalidity, uid, messageId } = line;
    const place = { key: keyOf(line), id, account, folder, uidvalidity, uid };
    const known = { messageId: messageId ?? "" };
    return { ...place, isUndo: false, known, ...commandOf(line, folders) };
  });
}

type Folders = Awaited<ReturnType<ImapFlow["list"]>>;

function commandOf(
  { action, target }: PlanLine,
  folders: Folders,
): Pick<Act, "command" | "target"> {
  if (action === "keyword") return { command: "add", target: target ?? "" };
  if (action === "flag") return { command: "add", target: "\\Flagged" };
  if (action === "read") return { command: "add", target: "\\Seen" };
  // Gmail has no folder for the archive: an archived mail is only in "All Mail".
  const uses = action === "junk" ? ["\\Junk"] : ["\\Archive", "\\All"];
  const ofUse = uses.flatMap((use) => folders.find(({ specialUse }) => specialUse === use) ?? []);
  const found = action === "move" ? folders.find(({ path }) => path === target) : ofUse[0];
  if (found === undefined) throw missingFolder(target ?? `with the special use ${uses[0]}`);
  return { command: "move", target: found.path };
}

function missingFolder(name: string): CliError {
  const problem = printable`The account has no folder ${name}`;
  return new CliError(`${problem}. Nothing was done; make the folder, or make a new plan.`);
}

/** Takes back what `apply` did with a plan; returns the exit code. */
export async function undoPlan(plan: string, context: CliContext): Promise<number> {
  const path = resolve(context.cwd, plan);
  using journal = new ActJournal(path);
  const [first] = journal.entries();
  if (first === undefined) {
    throw new CliError(printable`Nothing of ${path} was applied. Check the path of the plan.`);
  }
  const { account } = first.begun;
  const report = await withSession({ account, journal }, context, async (session) => {
    const states = [...statesOf(journal.entries()).values()];
    const acts = states.flatMap(({ state, undo }) => (state === "done" ? (undo ?? []) : []));
    return await runActs(acts, session);
  });
  return describe(report, { done: "Undid", next: "" }, context);
}

function describe(
  { done, left, changed }: ActReport,
  words: Readonly<Record<"done" | "next", string>>,
  { stderr, signal }: CliContext,
): number {
  for (const [why, ids] of left) {
    stderr.write(printable`Left ${printMails(ids.length)} alone: ${why}: ${ids.join(", ")}` + "\n");
  }
  if (changed.length > 0) {
    const kept = `Kept the flags that ${printMails(changed.length)} got since`;
    stderr.write(printable`${kept}: ${changed.join(", ")}` + "\n");
  }
  const summary = `${words.done} ${printMails(done)}${words.next}.`;
  if (signal.aborted) throw interrupted(`Interrupted. ${summary}`, signal);
  stderr.write(`${summary}\n`);
  return left.size > 0 ? exitCodes.unanswered : exitCodes.done;
}
