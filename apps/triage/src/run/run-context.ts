import type { CalibrationArtifact } from "evaluator-calibration";
import type { CliContext } from "evaluator-cli-kit";
import type { Catalog, Questions, Transport } from "evaluator-client";
import type { TriageRun } from "../arguments.ts";
import { readCalibration } from "../calibration.ts";
import { MailFile } from "../input/mail-file.ts";
import { toInputPath, toJournalPath, toOutputPath } from "../output/paths.ts";
import { type AnswerField, answerFields } from "../questions/answer-fields.ts";
import { chooseQuestions } from "../questions/read-questions.ts";
import type { AnsweredMail } from "../rules/conditions.ts";
import { readFilter } from "../rules/mail-filter.ts";
import { type Service, serviceOf, type TriageContext } from "../service.ts";
import { chooseState, type ToState } from "../state.ts";
import { checkSort } from "../table.ts";

/** What a run works with, all of it read and checked; nothing is written yet, and nothing sent. */
export interface RunContext extends CliContext {
  readonly run: TriageRun;
  readonly inputPath: string;
  readonly outputPath: string;
  readonly journalPath: string;
  /** The mails, of which the run takes as many as its limit says. */
  readonly input: MailFile;
  readonly questions: Questions;
  readonly fields: readonly AnswerField[];
  readonly toState: ToState;
  /** Returns whether the table shows a mail; null where it shows all. */
  readonly isShown: ((mail: AnsweredMail) => boolean) | null;
  /** What the results' answers are recalibrated with; null for as they come. */
  readonly calibration: CalibrationArtifact | null;
  readonly transport: Transport;
  /** Where prices are listed, or null. */
  readonly catalog: Catalog | null;
  readonly service: Service;
}

/**
 * Reads what a run needs.
 *
 * @throws CliError when something of it is missing or wrong.
 */
export async function readRunContext(run: TriageRun, program: TriageContext): Promise<RunContext> {
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
    input,
    questions,
    fields,
    calibration,
    isShown,
    toState: await chooseState(run, input, program),
    transport,
    catalog: await openCatalog(wanted),
    service: serviceOf(transport),
  };
}
