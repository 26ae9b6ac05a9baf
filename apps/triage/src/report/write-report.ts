import type { Answer } from "evaluator-client";
import { basename } from "node:path";
import { CliError, printable, printTexts, toPrintable, toPrintablePath } from "evaluator-kit";
import {
  type AskedQuestion,
  askedQuestions,
  printCount,
  printMails,
  shortValue,
  toInputPath,
  toOutputPath,
  writePrivateFile,
} from "evaluator-runs/source";
import type { ProgramContext } from "evaluator-runs/commands";
import {
  type AnsweredRecord,
  describeFilter,
  inputOf,
  type KeptEvaluation,
  type NewRecords,
  planOf,
  readFilter,
  readRules,
  type ResultRow,
  type RunResults,
  toAnswered,
  withResults,
} from "evaluator-runs/results";
import type { Mail } from "../input/mail-schema.ts";
import {
  addressesIn,
  describeDateGap,
  mailOfRecord,
  receivedDay,
  senderAddress,
} from "../input/mail.ts";
import { compareContext } from "./context-changes.ts";
import { MailList } from "./mail-list.ts";
import type { MailRow, ShownAnswer } from "./mail-row.ts";
import { reportPage } from "./report-page.ts";
import { toSections } from "./sections.ts";
import { mailSource } from "../mail-source.ts";

/** The options of `report`, with its argument. */
type ReportCommand = Pick<
  Parameters<typeof withResults>[0],
  "file" | "journal" | "run" | "calibration"
> &
  Parameters<typeof readFilter>[0] & { readonly rules?: string | undefined };

/** Makes a page from the results of the newest run: `.triage.html`, or printed without a file. */
export async function writeReport(
  command: ReportCommand,
  context: ProgramContext,
): Promise<number> {
  const options = { ...command, takesFile: true, isOrdered: false };
  try {
    const pieces = await withResults(options, context, async (results) =>
      makeReport(results, command, context),
    );
    if (command.file === undefined) await printTexts(pieces, context);
    else await writePage(command.file, pieces, context);
    return 0;
  } catch (error) {
    // Only an error of the temporary database: those of the journal are CliErrors.
    if (!(error instanceof Error) || !("errcode" in error)) throw error;
    const problem = printable`Cannot sort the mails in a temporary file: ${error.message}.`;
    throw new CliError(`${problem} Make room there, or name another folder with TMPDIR.`);
  }
}

async function writePage(
  file: string,
  pieces: AsyncIterable<string>,
  { cwd, stderr }: ProgramContext,
): Promise<void> {
  const input = toInputPath(file, cwd);
  const inputPath = input.endsWith(".triage.sqlite") ? inputOf({ path: input }, mailSource) : input;
  const path = toOutputPath(inputPath, mailSource).replace(/\.json$/, ".html");
  await writePrivateFile(path, pieces, "Make room there and run again.");
  stderr.write(printable`Wrote ${path}\n`);
}

async function makeReport(
  results: RunResults,
  command: ReportCommand,
  context: ProgramContext,
): Promise<AsyncIterable<string>> {
  const { questions, columns, calibration, facts } = results;
  const rules =
    command.rules === undefined ? null : await readRules(command.rules, columns, context);
  const plan = rules === null ? null : planOf(rules, calibration);
  const newRecords = await results.newRecords();
  const isShown = readFilter(command, columns);
  const sections = toSections(questions);
  const list = new MailList(sections);
  const changes = compareContext(sections.questions, results);
  const asked = askedQuestions(questions);
  const all = { mails: 0, failed: 0 };
  for await (const row of results.rows) {
    context.signal.throwIfAborted();
    all.mails += 1;
    all.failed += Number(row.kept === null);
    const answered = toAnswered(row, results, newRecords);
    if (isShown?.(answered) === false) continue;
    const rule = plan?.take(answered)?.at ?? -1;
    const shown = toMailRow(row, answered, { asked, rule });
    list.add(shown, sections.rankOf(shown.answers));
    await changes.add(row);
  }
  return reportPage({
    ...sections,
    list,
    actions: (rules ?? []).map(({ action }) => action),
    file: command.file === undefined ? null : toPrintablePath(basename(command.file)),
    runs: facts,
    all,
    calibration,
    notes: [...describeNew(newRecords, list), ...describeShown(command, list.length, all.mails)],
    plan: plan && plan.rules(),
    changes: changes.toHtml(),
  });
}

function describeNew(newRecords: NewRecords | null, { added }: MailList): string[] {
  if (newRecords === null) return [];
  const day = newRecords.since.slice(0, 10);
  return [`${printMails(added)} ${added === 1 ? "is" : "are"} new since the run of ${day}.`];
}

function describeShown(command: ReportCommand, shown: number, all: number): string[] {
  const filter = describeFilter(command);
  if (filter === null) return [];
  return [`Shown are ${printCount(shown)} of ${printMails(all)}: ${toPrintable(filter)}.`];
}

/** Returns a mail as the page shows it. */
function toMailRow(
  { input, kept, record }: ResultRow,
  { answers, isNew }: AnsweredRecord,
  { asked, rule }: { readonly asked: readonly AskedQuestion[]; readonly rule: number },
): MailRow {
  const mail = mailOfRecord(input);
  return {
    id: toPrintablePath(mail.id),
    day: toPrintable(receivedDay(mail)),
    dated: describeDateGap(mail),
    ...senderOf(mail.from),
    subject: toPrintable(mail.subject),
    snippet: toPrintable(mail.snippet),
    isNew,
    rule,
    ...wayBackTo(mail),
    answers:
      kept === null || answers === null
        ? null
        : asked.map((one) => toShown(answers[one.id], kept, one)),
    error: kept === null ? toPrintable(String(record["error"] ?? "")) : "",
  };
}

function senderOf(from: string): Pick<MailRow, "sender" | "address" | "isMasked"> {
  const address = senderAddress(from) ?? "";
  const plain = toPrintable(from);
  const bracket = plain.lastIndexOf("<");
  const name = (bracket === -1 ? plain : plain.slice(0, bracket)).replaceAll('"', "").trim();
  if (name === "" || name.toLowerCase() === address) {
    return { sender: toPrintable(address) || plain, address: "", isMasked: false };
  }
  const isMasked = bracket !== -1 && addressesIn(name).some((other) => other !== address);
  return { sender: name, address: toPrintable(address), isMasked };
}

function wayBackTo({ source }: Mail): Pick<MailRow, "isOfGmail" | "location"> {
  const { file = "", offset } = source ?? {};
  const at = offset === undefined ? "" : `, byte ${printCount(offset)}`;
  const location = file === "" ? "" : toPrintablePath(file) + at;
  // Without a source only the form of the id can name Gmail.
  const isOfGmail = source === undefined || source.gmail === true;
  return { isOfGmail, location };
}

function toShown(
  answer: Answer | undefined,
  kept: KeptEvaluation,
  asked: AskedQuestion,
): ShownAnswer {
  if (answer === undefined) return { value: 0, confidence: null, printed: null, shares: [] };
  const { id, short, distribution } = asked;
  const before = kept.answers[id];
  const isChanged = before !== undefined && before !== answer;
  const all = distribution?.of(answer) ?? {};
  const numberOf = (one: Answer) => Number(shortValue(asked, one));
  const isOption = short.form === "option";
  return {
    value: isOption ? short.keys.indexOf(short.of(answer)) : round(numberOf(answer)),
    confidence: isChanged ? null : round(kept.confidence[id] ?? null),
    printed: isChanged && !isOption ? round(numberOf(before)) : null,
    shares: (distribution?.keys ?? []).map((key) => round(all[key] ?? 0)),
  };
}

// Services print hundredths, calibrations many more digits, which would make a page larger.
function round<TNumber extends number | null>(value: TNumber): TNumber {
  return (value === null ? null : Math.round(1000 * value) / 1000) as TNumber;
}
