import type { CalibrationArtifact } from "evaluator-calibration";
import { basename } from "node:path";
import {
  CliError,
  printable,
  printTexts,
  toFileError,
  toPrintable,
  toPrintablePath,
} from "evaluator-kit";
import {
  askedQuestions,
  printCount,
  printDuration,
  printMails,
  printUsd,
  toInputPath,
  toOutputPath,
  writePrivateFile,
} from "evaluator-runs/source";
import type { ProgramContext } from "evaluator-runs/commands";
import type { RunInfo } from "evaluator-runs/postgres";
import {
  describeFilter,
  inputOf,
  isEmulator,
  type NewRecords,
  readFilter,
  readRules,
  type RunFacts,
  type RunResults,
  toAnswered,
  withResults,
} from "evaluator-runs/results";
import { ContextChanges } from "./context-changes.ts";
import { MailList, Tally } from "./mail-list.ts";
import { Plan } from "./plan.ts";
import { reportPage } from "./report-page.ts";
import { toSections } from "./sections.ts";
import { toMailRow } from "./to-mail-row.ts";
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
  return await makeAndWrite(command, context).catch((error: unknown) => {
    // Only an error of the temporary database: those of the journal are CliErrors.
    if (!(error instanceof Error) || !("errcode" in error)) throw error;
    const problem = printable`Cannot sort the mails in a temporary file: ${error.message}.`;
    throw new CliError(`${problem} Make room there, or name another folder with TMPDIR.`);
  });
}

async function makeAndWrite(command: ReportCommand, context: ProgramContext): Promise<number> {
  const { cwd, stderr } = context;
  const pieces = await withResults(
    { ...command, takesFile: true, isOrdered: false },
    context,
    async (results) => makeReport(results, command, context),
  );
  if (command.file === undefined) {
    await printTexts(pieces, context);
    return 0;
  }
  const input = toInputPath(command.file, cwd);
  const inputPath = input.endsWith(".triage.sqlite") ? inputOf({ path: input }, mailSource) : input;
  const path = toOutputPath(inputPath, mailSource).replace(/\.json$/, ".html");
  await writePrivateFile(path, pieces).catch((error: unknown) => {
    throw toFileError(error, `write ${path}`, "Make room there and run again.");
  });
  stderr.write(printable`Wrote ${path}\n`);
  return 0;
}

async function makeReport(
  results: RunResults,
  command: ReportCommand,
  context: ProgramContext,
): Promise<AsyncIterable<string>> {
  const { columns, calibration, info, facts } = results;
  const rules =
    command.rules === undefined ? null : await readRules(command.rules, columns, context);
  const plan = rules === null ? null : new Plan(rules);
  const { signal } = context;
  const read = await readRows(results, command, { plan, signal });
  const { list, tally, changes, all, newRecords, sections } = read;
  const runs = info === null ? facts : [factsOf(info)];
  return reportPage({
    list,
    sections,
    tally,
    facts: {
      questions: sections.questions,
      score: sections.score,
      choice: sections.choice,
      actions: (rules ?? []).map(({ action }) => action),
      file: command.file === undefined ? null : toPrintablePath(basename(command.file)),
    },
    basis: describeBasis(runs, calibration, all),
    notes: [...describeNew(newRecords, tally), ...describeShown(command, list.length, all.mails)],
    plan: plan?.toHtml(calibration, list.length) ?? null,
    changes: changes.toHtml(),
    figures: figuresOf(runs, { mails: list.length, failed: tally.failed }),
  });
}

/** Reads the results once, mail by mail. */
async function readRows(
  results: RunResults,
  command: ReportCommand,
  { plan, signal }: { readonly plan: Plan | null; readonly signal: ProgramContext["signal"] },
) {
  const { questions, columns } = results;
  const newRecords = await results.newRecords();
  const isShown = readFilter(command, columns);
  const sections = toSections(questions);

  const list = new MailList(sections);
  const tally = new Tally(sections.questions);
  const changes = new ContextChanges(sections.questions, results);
  const asked = askedQuestions(questions);
  const all = { mails: 0, failed: 0 };
  for await (const row of results.rows) {
    signal.throwIfAborted();
    all.mails += 1;
    all.failed += Number(row.kept === null);
    const answered = toAnswered(row, results, newRecords);
    if (isShown?.(answered) === false) continue;
    const rule = plan?.take(answered) ?? -1;
    const shown = toMailRow(row, answered, { asked, rule });
    list.add(shown, sections.rankOf(shown.answers));
    tally.add(shown);
    await changes.add(row);
  }
  return { list, tally, changes, all, newRecords, sections };
}

function describeNew(newRecords: NewRecords | null, { added }: Tally): string[] {
  if (newRecords === null) return [];
  const day = newRecords.since.slice(0, 10);
  return [`${printMails(added)} ${added === 1 ? "is" : "are"} new since the run of ${day}.`];
}

function describeShown(command: ReportCommand, shown: number, all: number): string[] {
  const filter = describeFilter(command);
  if (filter === null) return [];
  return [`Shown are ${printCount(shown)} of ${printMails(all)}: ${toPrintable(filter)}.`];
}

// As a journal in a file keeps it.
function factsOf(info: RunInfo): RunFacts {
  const { setup, records, asked, failed, inputTokens, costUsd, createdAt, finishedAt } = info;
  const endedAt = finishedAt ?? new Date();
  return {
    finishedAt: endedAt.toISOString(),
    wire: setup.wire,
    modelId: setup.modelId,
    mails: records,
    answered: asked,
    failed,
    inputTokens,
    costUsd,
    elapsedMs: endedAt.getTime() - createdAt.getTime(),
  };
}

/** Describes the model, the time, the cost and the calibration in one line. */
function describeBasis(
  runs: readonly RunFacts[],
  calibration: CalibrationArtifact | null,
  { mails, failed }: { readonly mails: number; readonly failed: number },
): string {
  const last = runs.at(-1);
  const answered = `${printCount(mails - failed)} of ${printMails(mails)}`;
  const worth = describeWorth(calibration);
  if (last === undefined) return `${answered} answered; no run has gone through yet. ${worth}`;
  const engine = isEmulator(last.wire) ? " (recordings or matching words, not a model)" : "";
  const day = last.finishedAt.slice(0, 16).replace("T", " ");
  const who = toPrintable(`${last.modelId} through ${last.wire}`) + engine;
  return `${who} answered ${answered}, last on ${day} UTC, for ${costOf(runs)}. ${worth}`;
}

function describeWorth(calibration: CalibrationArtifact | null): string {
  if (calibration === null) {
    return "Not calibrated: nobody has checked here whether the probabilities hold (triage label, evaluator calibrate).";
  }
  const { model, fittedOn } = calibration;
  const name = toPrintable(model.id ?? "a model without a name");
  return `Calibrated on ${printCount(fittedOn.n)} labels for ${name}.`;
}

// The sum leaves out runs with an unknown price.
function costOf(runs: readonly RunFacts[]): string {
  const usd = runs.reduce((total, { costUsd }) => total + costUsd, 0);
  if (!runs.some(({ isUnpriced }) => isUnpriced)) return printUsd(usd);
  return usd === 0 ? "no known price" : `${printUsd(usd)} and what has no known price`;
}

/** Returns the totals of all runs, as names and values. */
function figuresOf(
  runs: readonly RunFacts[],
  { mails, failed }: { readonly mails: number; readonly failed: number },
): (readonly [name: string, value: string])[] {
  const sum = (fact: "inputTokens" | "elapsedMs" | "answered") =>
    runs.reduce((total, run) => total + run[fact], 0);
  return [
    ["Mails", printCount(mails)],
    ["Without answer", printCount(failed)],
    ["Calls", printCount(sum("answered"))],
    ["Input tokens", printCount(sum("inputTokens"))],
    ["Cost", costOf(runs)],
    ["Time asking", printDuration(sum("elapsedMs"))],
  ];
}
