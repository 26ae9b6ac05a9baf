import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { checkOutput, CliError, exitCodes, printable, writeWholeFile } from "evaluator-kit";
import type { ImapFlow } from "imapflow";
import type { ProgramContext } from "evaluator-runs/commands";
import { describePlan, planOf, readRules, toAnswered, withResults } from "evaluator-runs/results";
import { toInputPath, toOutputPath } from "evaluator-runs/source";
import { mailOfRecord } from "../input/mail.ts";
import type { Mail } from "../input/mail-schema.ts";
import { mailSource } from "../mail-source.ts";
import { openActJournal, toJournalPath } from "./act-journal.ts";
import { FolderTable } from "./folder-table.ts";
import { type MailboxAddress, parseMailboxUrl } from "./mailbox-url.ts";
import { describeNotes, type Note, parseAction, placeSchema, type PlanLine } from "./plan-line.ts";

type PlanCommand = Parameters<typeof withResults>[0] &
  Readonly<Record<"file" | "rules", string> & Partial<Record<"output" | "mailbox", string>>>;

/** Writes which action the rules ask for on which mail, and prints the promise of each rule. */
export async function writePlan(command: PlanCommand, context: ProgramContext): Promise<number> {
  const { cwd, stderr } = context;
  const path = toPlanPath(command, cwd);
  const inputs = [toInputPath(command.file, cwd), resolve(cwd, command.rules)];
  await checkOutput(path, inputs, { isOwn: isPlan });
  const address = command.mailbox === undefined ? null : parseMailboxUrl(command.mailbox);
  return await withResults(command, context, async (results) => {
    const rules = await readRules(command.rules, results.columns, { cwd, parseAction });
    const plan = planOf(rules, results.calibration);
    const newRecords = await results.newRecords();
    let all = 0;
    const idCounts = new Map<string, number>();
    const takenMails = async function* takenMails() {
      for await (const row of results.rows) {
        all += 1;
        const mail = mailOfRecord(row.input);
        const { messageId } = mail.headers ?? {};
        if (address && messageId) idCounts.set(messageId, (idCounts.get(messageId) ?? 0) + 1);
        const takenAct = plan.take(toAnswered(row, results, newRecords));
        if (takenAct !== null) yield { mail, ...toLine(mail, takenAct, rules[takenAct.at]?.text) };
      }
    };
    const notes: Note[] = [];
    const lines =
      address === null
        ? importedLines(takenMails(), findModseq(command, cwd))
        : await foundLines(takenMails(), { address, idCounts, notes }, context);
    await writeWholeFile(path, toJsonLines(lines));
    stderr.write(describePlan(plan.rules(), all, mailSource.word) + describeNotes(notes));
    stderr.write(printable`Wrote ${path}. Read it; then "apply" does it.` + "\n");
    return notes.length > 0 ? exitCodes.unanswered : exitCodes.done;
  });
}

function isPlan(beginning: string): boolean {
  return /^\{"id":.*"uidvalidity":\d+,/.test(beginning);
}

/** Returns the HIGHESTMODSEQ of the folder when it was read; null if it has none. */
function findModseq({ file }: PlanCommand, cwd: string): string | null {
  const path = toInputPath(file, cwd).replace(/\.json$/, ".mailbox.sqlite");
  if (!existsSync(path)) return null;
  using table = new FolderTable(path);
  return table.state?.highestmodseq ?? null;
}

function toPlanPath({ file, output }: PlanCommand, cwd: string): string {
  const results = toOutputPath(toInputPath(file, cwd), mailSource);
  const path = resolve(cwd, output ?? results.replace(/\.triage\.json$/, ".plan.ndjson"));
  const journal = toJournalPath(path);
  if (!existsSync(journal)) return path;
  using acts = openActJournal(path);
  if (acts.entries().length === 0) return path;
  const problem = printable`${journal} has what "apply" did with the plan before`;
  throw new CliError(`${problem}, and "undo" needs it. Move it away, or use another --output.`);
}

type Taken = NonNullable<ReturnType<ReturnType<typeof planOf>["take"]>>;

/** A line without the place of its mail on a server. */
type BareLine = ReturnType<typeof toLine>;

function toLine({ id, from, subject, headers }: Mail, { action, act }: Taken, rule = "") {
  const parsedAction = parseAction(action);
  if (typeof parsedAction === "string") throw new CliError(parsedAction);
  const messageId = headers?.messageId ?? null;
  const evidence = act.evidence && { ...act.evidence };
  const line = {
    messageId,
    from,
    subject,
    ...parsedAction,
    rule: `${rule} -> ${action}`,
    evidence,
  };
  return { id, line };
}

interface TakenMail extends BareLine {
  readonly mail: Mail;
}

/** Adds the places of mails that were imported from a server. */
async function* importedLines(
  takenItems: AsyncIterable<TakenMail>,
  modseq: string | null,
): AsyncGenerator<PlanLine> {
  for await (const { id, line, mail } of takenItems) {
    const { data: place } = placeSchema.safeParse(mail.source);
    if (place === undefined) {
      const problem = printable`The mail ${id} is not from a mailbox on a server`;
      throw new CliError(`${problem}. Find it there: --mailbox imaps://USER@HOST/FOLDER`);
    }
    yield { id, ...place, ...line, modseq };
  }
}

interface Search {
  readonly address: MailboxAddress;
  readonly idCounts: ReadonlyMap<string, number>;
  /** Gets the mails that are not found. */
  readonly notes: Note[];
}

/** Adds the places of mails that are found on a server. */
async function foundLines(
  takenItems: AsyncIterable<TakenMail>,
  { address, idCounts, notes }: Search,
  context: ProgramContext,
): Promise<PlanLine[]> {
  const { findMails } = await import("./find-mails.ts");
  const { keepConnected } = await import("./keep-connected.ts");
  const all: TakenMail[] = [];
  for await (const mail of takenItems) all.push(mail);
  const mails = all.map(({ mail }) => mail);
  const find = async (client: ImapFlow) => await findMails(client, address, { mails, idCounts });
  const { places, modseq } = await keepConnected(address, find, context);
  return all.flatMap(({ id, line }, at) => {
    const place = places[at] ?? "";
    if (typeof place === "string") notes.push({ id, why: `${place}; it is not in the plan` });
    return typeof place === "string" ? [] : [{ id, ...place, ...line, modseq }];
  });
}

async function* toJsonLines(lines: AsyncIterable<PlanLine> | Iterable<PlanLine>) {
  for await (const line of lines) yield `${JSON.stringify(line)}\n`;
}
