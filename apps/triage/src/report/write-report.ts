import { isPage, reportsBeside } from "evaluator-kit/page";
import {
  checkOutput,
  type FileContent,
  printable,
  printTexts,
  toPrintable,
  toTemporaryFileError,
  writeWholeFile,
} from "evaluator-kit";
import {
  askedQuestions,
  printCount,
  printCounted,
  type RunRecord,
  toInputPath,
  toOutputPath,
} from "evaluator-runs/source";
import type { ProgramContext } from "evaluator-runs/commands";
import {
  describeFilter,
  inputOf,
  type NewRecords,
  planOf,
  readFilter,
  readRules,
  type RunResults,
  toAnswered,
  withResults,
} from "evaluator-runs/results";
import type { Mail } from "../input/mail-schema.ts";
import { addressesIn, localDay, mailOfRecord, senderAddress } from "../input/mail.ts";
import { MailList } from "./mail-list.ts";
import type { mailPrograms } from "./mail-links.ts";
import { reportPage, type ReportParts } from "./report-page.ts";
import { toSections } from "./sections.ts";
import { threadKeys } from "./threads.ts";
import { toMailRow } from "./to-mail-row.ts";
import { mailSource } from "../mail-source.ts";

/** The options of `report`, with its argument. */
export type ReportCommand = Pick<
  Parameters<typeof withResults>[0],
  "file" | "journal" | "run" | "calibration"
> &
  Parameters<typeof readFilter>[0] & {
    readonly rules?: string | undefined;
    readonly open?: (typeof mailPrograms)[number] | undefined;
  };

/** Makes a page from the results of the newest run: `.triage.html`, or printed without a file. */
export async function writeReport(command: ReportCommand, context: ProgramContext) {
  const { file } = command;
  return await withReport(command, context, async (parts) => {
    if (file === undefined) await printTexts(reportPage(parts), context);
    else {
      const toContent = (pages: PageLinks) => reportPage({ ...parts, pages });
      await writePage(file, { toContent, end: ".triage.html" }, context);
    }
    return 0;
  });
}

/** Reads the results of a run into the parts of a page, and disposes of them after use. */
export async function withReport<TResult>(
  command: ReportCommand,
  context: ProgramContext,
  use: (parts: ReportParts) => Promise<TResult>,
): Promise<TResult> {
  const options = { ...command, isOrdered: false };
  try {
    const parts = await withResults(options, context, (all) => toParts(all, command, context));
    using list = parts.list;
    return await use({ ...parts, list });
  } catch (error) {
    // Only an error of the temporary database: those of the journal are CliErrors.
    throw toTemporaryFileError(error);
  }
}

type PageLinks = ReportParts["pages"];

interface WrittenPage {
  readonly toContent: (pages: PageLinks) => FileContent;
  readonly end: string;
  /** Whether an earlier command wrote the file, by its beginning. @default isPage */
  readonly isOwn?: (beginning: string) => boolean;
}

/** Writes a page beside an input, with another ending. @throws CliError if another file is there. */
export async function writePage(
  file: string,
  { toContent, end, isOwn = isPage }: WrittenPage,
  { cwd, stderr }: ProgramContext,
): Promise<void> {
  const input = toInputPath(file, cwd);
  const inputPath = input.endsWith(".triage.sqlite") ? inputOf({ path: input }, mailSource) : input;
  const path = toOutputPath(inputPath, mailSource).replace(/\.triage\.json$/, end);
  await checkOutput(path, [inputPath], { isOwn });
  const content = toContent(await reportsBeside(path));
  await writeWholeFile(path, content);
  stderr.write(printable`Wrote ${path}\n`);
}

async function toParts(
  results: RunResults,
  command: ReportCommand,
  context: ProgramContext,
): Promise<ReportParts> {
  const { questions, columns, calibration } = results;
  const runs = await results.readFacts();
  const rules =
    command.rules === undefined ? null : await readRules(command.rules, columns, context);
  const plan = rules === null ? null : planOf(rules, calibration);
  const newRecords = await results.newRecords();
  const isShown = readFilter(command, columns);
  const sections = toSections(questions);
  const list = new MailList(sections);
  const questionColumns = askedQuestions(questions);
  const all = { mails: 0, failed: 0 };
  const program = command.open ?? null;
  const entryOf = await entriesFor(results, context);
  for await (const row of results.rows) {
    context.signal.throwIfAborted();
    all.mails += 1;
    all.failed += Number(row.kept === null);
    const answeredRow = toAnswered(row, results, newRecords);
    if (isShown?.(answeredRow) === false) continue;
    const rule = plan?.take(answeredRow)?.at ?? -1;
    const mail = mailOfRecord(row.input);
    const mailRow = toMailRow(row, answeredRow, {
      mail,
      asked: questionColumns,
      rule,
      program,
    });
    const { section, weight, isScam } = sections.rankOf(mailRow.answers);
    const keys = threadKeys(mail, isScam);
    const { unsubscribe = "", oneClick = false } = isScam ? {} : (mail.headers ?? {});
    const link = { unsubscribe, oneClick: Number(oneClick) };
    list.add(mailRow, { section, weight, keys, ...link, ...entryOf(mail, row.input) });
  }
  list.close();
  return {
    ...sections,
    list,
    pages: [],
    tomorrow: null,
    actions: (rules ?? []).map(({ action }) => action),
    runs,
    all,
    calibration,
    wrong: await describeWrong(runs, command, context),
    notes: [
      ...describeNew(newRecords, list),
      ...describeShown(command, list.length, all.mails),
      ...(list.hidden === 0
        ? []
        : [`Not shown: ${printCounted(list.hidden, "mail")}, done or snoozed.`]),
    ],
    plan: plan && plan.rules(),
  };
}

/** Returns how many labelled answers of each engine are wrong; null if no run asked a second one. */
async function describeWrong(
  runs: ReportParts["runs"],
  command: ReportCommand,
  context: ProgramContext,
): Promise<string | null> {
  if (!runs.some(({ steps }) => steps !== undefined)) return null;
  const { wrongAnswers } = await import("evaluator-runs/label");
  return await wrongAnswers(command, context);
}

/** Returns a function that finds out whose a mail is, and whether it is put away. */
async function entriesFor(results: RunResults, { env, clock }: ProgramContext) {
  const own = new Set(addressesIn(env["TRIAGE_USER_ADDRESSES"] ?? ""));
  const away = await results.away();
  const today = localDay(new Date(clock.epochNow()));
  return ({ id, from, date, received: time = date }: Mail, { state }: RunRecord) => ({
    id,
    time,
    isOwn: Number(own.has(senderAddress(from) ?? "") || state["sent_by_user"] === true),
    isHidden: Number((away.get(id) ?? "") > today),
  });
}

function describeNew(newRecords: NewRecords | null, { added: addedCount }: MailList): string[] {
  if (newRecords === null) return [];
  const day = newRecords.since.slice(0, 10);
  return [
    `${printCounted(addedCount, "mail")} ${addedCount === 1 ? "is" : "are"} new since the run of ${day}.`,
  ];
}

function describeShown(command: ReportCommand, shownCount: number, all: number): string[] {
  const filter = describeFilter(command);
  if (filter === null) return [];
  return [
    `Shown are ${printCount(shownCount)} of ${printCounted(all, "mail")}: ${toPrintable(filter)}.`,
  ];
}
