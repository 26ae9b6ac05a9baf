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
  const planPath = toPlanPath(command, cwd);
  const inputPaths = [toInputPath(command.file, cwd), resolve(cwd, command.rules)];
  await checkOutput(planPath, inputPaths, { isOwn: isPlanFile });
  const address = command.mailbox === undefined ? null : parseMailboxUrl(command.mailbox);
  return await withResults(command, context, async (results) => {
    const planRules = await readRules(command.rules, results.columns, { cwd, parseAction });
    const rulePlan = planOf(planRules, results.calibration);
    const newRecords = await results.newRecords();
    let mailCount = 0;
    const idCounts = new Map<string, number>();
    const takenMails = async function* takenMails() {
      for await (const resultRow of results.rows) {
        mailCount += 1;
        const inputMail = mailOfRecord(resultRow.input);
        const { messageId } = inputMail.headers ?? {};
        if (address && messageId) idCounts.set(messageId, (idCounts.get(messageId) ?? 0) + 1);
        const takenAct = rulePlan.take(toAnswered(resultRow, results, newRecords));
        if (takenAct !== null)
          yield { mail: inputMail, ...toLine(inputMail, takenAct, planRules[takenAct.at]?.text) };
      }
    };
    const planNotes: Note[] = [];
    const planLines =
      address === null
        ? importedLines(takenMails(), findModseq(command, cwd))
        : await foundLines(takenMails(), { address, idCounts, notes: planNotes }, context);
    await writeWholeFile(planPath, toJsonLines(planLines));
    stderr.write(
      describePlan(rulePlan.rules(), mailCount, mailSource.word) + describeNotes(planNotes),
    );
    stderr.write(printable`Wrote ${planPath}. Read it; then "apply" does it.` + "\n");
    return planNotes.length > 0 ? exitCodes.unanswered : exitCodes.done;
  });
}

function isPlanFile(beginning: string): boolean {
  return /^\{"id":.*"uidvalidity":\d+,/.test(beginning);
}

/** Returns the HIGHESTMODSEQ of the folder when it was read; null if it has none. */
function findModseq({ file }: PlanCommand, cwd: string): string | null {
  const tablePath = toInputPath(file, cwd).replace(/\.json$/, ".mailbox.sqlite");
  if (!existsSync(tablePath)) return null;
  using folderTable = new FolderTable(tablePath);
  return folderTable.state?.highestmodseq ?? null;
}

function toPlanPath({ file, output }: PlanCommand, cwd: string): string {
  const resultsPath = toOutputPath(toInputPath(file, cwd), mailSource);
  const planPath = resolve(cwd, output ?? resultsPath.replace(/\.triage\.json$/, ".plan.ndjson"));
  const journalPath = toJournalPath(planPath);
  if (!existsSync(journalPath)) return planPath;
  using actJournal = openActJournal(planPath);
  if (actJournal.entries().length === 0) return planPath;
  const problem = printable`${journalPath} has what "apply" did with the last plan`;
  throw new CliError(`${problem}, which "undo" needs. Move it, or use another --output.`);
}

type Taken = NonNullable<ReturnType<ReturnType<typeof planOf>["take"]>>;

/** A line without the place of its mail on a server. */
type BareLine = ReturnType<typeof toLine>;

function toLine({ id, from, subject, headers }: Mail, { action, act }: Taken, ruleText = "") {
  const parsedAction = parseAction(action);
  if (typeof parsedAction === "string") throw new CliError(parsedAction);
  const messageId = headers?.messageId ?? null;
  const evidence = act.evidence && { ...act.evidence };
  const planLine = {
    messageId,
    from,
    subject,
    ...parsedAction,
    rule: `${ruleText} -> ${action}`,
    evidence,
  };
  return { id, line: planLine };
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
    const { data } = placeSchema.safeParse(mail.source);
    if (data === undefined) {
      const problem = printable`The mail ${id} is not from a mailbox on a server`;
      throw new CliError(`${problem}. Find it there: --mailbox imaps://USER@HOST/FOLDER`);
    }
    yield { id, ...data, ...line, modseq };
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
  const takenMails: TakenMail[] = [];
  for await (const takenMail of takenItems) takenMails.push(takenMail);
  const wantedMails = takenMails.map(({ mail }) => mail);
  const findPlaces = async (client: ImapFlow) =>
    await findMails(client, address, { mails: wantedMails, idCounts });
  const { places, modseq } = await keepConnected(address, findPlaces, context);
  return takenMails.flatMap(({ id, line }, mailIndex) => {
    const mailPlace = places[mailIndex] ?? "";
    if (typeof mailPlace === "string")
      notes.push({ id, why: `${mailPlace}; it is not in the plan` });
    return typeof mailPlace === "string" ? [] : [{ id, ...mailPlace, ...line, modseq }];
  });
}

async function* toJsonLines(planLines: AsyncIterable<PlanLine> | Iterable<PlanLine>) {
  for await (const planLine of planLines) yield `${JSON.stringify(planLine)}\n`;
}
