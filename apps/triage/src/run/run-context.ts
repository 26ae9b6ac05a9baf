import type { TriageRun } from "../arguments.ts";
import { readCalibration } from "../calibration.ts";
import { MailFile } from "../input/mail-file.ts";
import { toInputPath, toJournalPath, toOutputPath } from "../output/paths.ts";
import { answerFields } from "../questions/answer-fields.ts";
import { chooseQuestions } from "../questions/read-questions.ts";
import { readFilter } from "../rules/mail-filter.ts";
import { serviceOf, type TriageContext } from "../service.ts";
import { chooseState } from "../state.ts";
import { checkSort } from "../table.ts";

/** What a run works with, all of it read and checked; nothing is written yet, and nothing sent. */
export type RunContext = Awaited<ReturnType<typeof readRunContext>>;

/**
 * Reads what a run needs.
 *
 * @throws CliError when something of it is missing or wrong.
 */
export async function readRunContext(run: TriageRun, program: TriageContext) {
  const { openTransport, openCatalog, ...context } = program;
  const { cwd, env, signal, stdin } = context;
  const inputPath = toInputPath(run.file, cwd);
  const outputPath = toOutputPath(inputPath, run.format);
  const journalPath = toJournalPath(inputPath);
  const input = await MailFile.open(inputPath, { ...run, signal, stdin });
  const questions = await chooseQuestions(run.questions, context);
  const calibration =
    run.calibration === null ? null : await readCalibration(run.calibration, questions, context);
  const fields = answerFields(questions, calibration);
  checkSort(run, fields);
  const isShown = readFilter(run, { questions, fields });
  const wanted = { offline: run.offline, dryRun: run.dryRun, env };
  const transport = await openTransport(wanted);
  return {
    ...context,
    run,
    inputPath,
    outputPath,
    journalPath,
    /** The mails, of which the run takes as many as its limit says. */
    input,
    questions,
    fields,
    /** What the results' answers are recalibrated with; null for as they come. */
    calibration,
    /** Returns whether the table shows a mail; null where it shows all. */
    isShown,
    toState: await chooseState(run, input, program),
    transport,
    /** Where prices are listed, or null. */
    catalog: await openCatalog(wanted),
    service: serviceOf(transport),
  };
}
