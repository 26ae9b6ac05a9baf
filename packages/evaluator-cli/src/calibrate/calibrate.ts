import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { questionHash } from "evaluator-calibration";
import {
  actionsOf,
  type AnswerTable,
  LabelJoin,
  type PlannedPromise,
  replayPlan,
} from "evaluator-calibration/reports";
import {
  checkName,
  type CliContext,
  CliError,
  exitCodes,
  missingColumn,
  printable,
  tooLittleEvidence,
  UsageError,
} from "evaluator-kit";
import { reportsBeside } from "evaluator-kit/page";
import type { CalibrateOptions } from "../commands/report-commands.ts";
import {
  listAnswerFiles,
  checkAnswered,
  listModelIds,
  readAnswers,
  readQuestionsFile,
  readRecords,
} from "../read-files.ts";
import { describeUnjoined } from "../new-labels.ts";
import { describeBlank } from "../report/sentences.ts";
import { checkReport, writeReport } from "../write-report.ts";
import { replaceCalibration, toArtifact } from "./calibration-file.ts";
import { buildReport, type CalibrationReport, printReport } from "./calibration-report.ts";
import { reportPage } from "./report-page.ts";

/** Prints and writes the report on labelled records, and the artifact. */
export async function calibrate(command: CalibrateOptions, context: CliContext): Promise<void> {
  const questions = command.question ?? command.action?.map(({ question }) => question);
  const options = { ...command, questions };
  await checkReport(command.out, "files", context);
  const fileQuestions = await readQuestionsFile(command.questions, context);
  const askedHash = fileQuestions && questionHash(fileQuestions);
  const answerFiles = listAnswerFiles(command.answers, command.more);
  const answers = await readAnswers(answerFiles, options, context);
  checkAnswered(answers.table, answerFiles);
  checkTypedNames(options, answers.table);
  checkAsked(answers.table, askedHash);
  const labelJoin = new LabelJoin(answers.table, options);
  const { labels: labelsFileName } = command;
  const labelsFile = await readRecords(labelsFileName, context, (labelRecord) => {
    labelJoin.add(labelRecord, labelsFileName);
  });
  checkColumns(command, labelJoin);
  const plannedPromises = await readPlannedPromises(command, labelJoin, context);
  const reportInput = { answers, join: labelJoin, labelsFile, planned: plannedPromises };
  const report = await buildReport(reportInput, command);
  const missingReason = describeMissing(report, options);
  const artifact = toArtifact(report, reportInput, askedHash);
  const looks = countLooks(command, report, context);
  const calibration = await replaceCalibration(artifact, { report, out: command.out }, context);
  // A report on nothing is written only if it ends an earlier promise.
  if (missingReason === null || calibration.files !== null)
    await writeFiles({ report, missingReason, looks, calibration }, command, context);
  const lookNotes = looks === 1 ? [] : [noteOnLooks(looks)];
  for (const note of [...calibration.notes, ...lookNotes]) context.stderr.write(`${note}\n`);
  if (missingReason !== null) throw tooLittleEvidence(missingReason);
  const isPromised = report.reports.every(({ actions }) =>
    actions.some(({ promised: promisedThreshold }) => promisedThreshold !== null),
  );
  if (command.require !== undefined && !isPromised) context.exitCode = exitCodes.notEnoughEvidence;
}

interface Result {
  readonly report: CalibrationReport;
  /** See `describeMissing`. */
  readonly missingReason: string | null;
  readonly looks: number;
  readonly calibration: Awaited<ReturnType<typeof replaceCalibration>>;
}

/** Writes the files of a report and prints its text, or nothing if the report has no evidence. */
async function writeFiles(
  { report, missingReason, looks, calibration }: Result,
  { out, json: isJson }: CalibrateOptions,
  context: CliContext,
) {
  const shownReport =
    missingReason === null ? report : { ...report, notes: [missingReason, ...report.notes] };
  const pageLinks = await reportsBeside(join(resolve(context.cwd, out), "report.html"));
  const files = {
    "report.json": { ...shownReport, artifact: calibration.hash, looks },
    "report.html": reportPage(shownReport, pageLinks),
    ...calibration.files,
  };
  const reportText = isJson === true ? null : printReport(report);
  await writeReport({ out, files, printed: missingReason === null ? reportText : "" }, context);
}

/**
 * Returns the promises that labels were drawn for one by one, by the plan beside their file.
 *
 * @throws CliError if the plan promises something else.
 */
async function readPlannedPromises(
  { labels, action: wantedQuestionActions, require: maxRisk, confidence }: CalibrateOptions,
  labelJoin: LabelJoin,
  { cwd }: CliContext,
): Promise<PlannedPromise[]> {
  if (labelJoin.plans.size === 0) return [];
  const { isOneOf, readPlan, toPlanPath } = await import("evaluator-runs");
  const planFile = toPlanPath(labels);
  const plan = await readPlan(resolve(cwd, planFile));
  const { questions } = labelJoin.table;
  const isWanted = isOneOf(wantedQuestionActions ?? plan.actions);
  const replayedPlans = replayPlan(plan, labelJoin, {
    file: planFile,
    isWanted: (action) => questions.includes(action.question) && isWanted(action),
  });
  const spentLevel = replayedPlans.reduce((total, { level }) => total + level, 0);
  if ((maxRisk ?? plan.maxRisk) === plan.maxRisk && spentLevel < 1 - confidence + 1e-9)
    return replayedPlans;
  const planOptions = `--require ${plan.maxRisk} --confidence ${plan.confidence}`;
  throw new CliError(
    printable`${planFile} promises ${planOptions}; use these, or other acts with --action.`,
  );
}

/** Returns how many reports in the folder were made from these labels while they grew. */
function countLooks(
  { out, labels }: CalibrateOptions,
  report: CalibrationReport,
  context: CliContext,
) {
  const reportPath = resolve(context.cwd, out, "report.json");
  if (!existsSync(reportPath)) return 1;
  try {
    const formerReport = JSON.parse(readFileSync(reportPath, "utf8")) as CalibrationReport & {
      looks?: number;
    };
    if (formerReport.files.labels.name !== labels) return 1;
    const isSame = formerReport.files.labels.sha256 === report.files.labels.sha256;
    // Labels that were drawn for a promise may be looked at after each one.
    const isSearched = report.reports.some(({ n }) => n > 0);
    return (formerReport.looks ?? 1) + (isSame || !isSearched ? 0 : 1);
  } catch {
    // A file that was changed by hand counts nothing.
    return 1;
  }
}

function noteOnLooks(looks: number): string {
  return `This is report ${looks} on these growing labels. A promise after many looks is broken in 8 to 21 % of cases, not 5 %: fix the number of labels first, or use label --for-promise.`;
}

type TypedNames = Pick<CalibrateOptions, "labels" | "model" | "action"> & {
  readonly questions: readonly string[] | undefined;
};

/** @throws an error for a question, a model or an act that the answers do not have. */
function checkTypedNames(
  { questions = [], model, action: wantedActs = [] }: TypedNames,
  { allQuestions, columns }: AnswerTable,
): void {
  for (const question of questions) checkName("question", question, allQuestions);
  checkName("model", model, listModelIds(columns));
  for (const { question, action } of wantedActs) {
    const questionColumns = columns.filter((answerColumn) => answerColumn.question === question);
    const knownActions = new Set(questionColumns.flatMap(({ form }) => actionsOf[form]));
    if (knownActions.size === 0 || knownActions.has(action)) continue;
    const rightActions = Array.from(
      knownActions,
      (knownAction) => `${question}=${knownAction}`,
    ).join(" or ");
    throw new UsageError(
      printable`--action ${question}=${action} fits no answer; use ${rightActions}.`,
    );
  }
}

/** @throws CliError if the answers were given to other questions than those of the file. */
function checkAsked({ columns }: AnswerTable, askedHash: string | null): void {
  const hashes = columns.flatMap(({ source }) => source.questionHash ?? []);
  if (askedHash === null || hashes.every((hash) => hash === askedHash)) return;
  throw new CliError("The answers are to other questions; name their file.");
}

/** @throws CliError for a column that no label has, if there are labels. */
function checkColumns({ labels, by, onePer }: CalibrateOptions, labelJoin: LabelJoin): void {
  if (labelJoin.columns.length + labelJoin.drawn.length === 0) return;
  const labelColumns = [
    { option: "--by", column: by, found: labelJoin.groups },
    { option: "--one-per", column: onePer, found: labelJoin.clusters },
  ];
  for (const { option, column, found: foundNames } of labelColumns) {
    if (column === undefined || foundNames.list.length > 0) continue;
    const problem = printable`No label of ${labels} has a value in the column "${column}"`;
    const labelerNames = labelJoin.labelers.list.length > 0 ? ["labeler"] : [];
    throw missingColumn(problem, option, [...labelJoin.repeats.names, ...labelerNames]);
  }
}

/** Returns a sentence if no label has an answer, or none of a question that an act is wanted on. */
function describeMissing(
  { reports, join, blankLabels }: CalibrationReport,
  { labels: labelsFileName, action: wantedActs, questions }: TypedNames,
): string | null {
  const reportedQuestions = new Set(reports.map(({ question }) => question));
  const missingQuestion = wantedActs?.find(
    ({ question }) => !reportedQuestions.has(question),
  )?.question;
  if (reportedQuestions.size > 0 && missingQuestion === undefined) return null;
  const questionCounts = join.filter(({ question }) => (missingQuestion ?? question) === question);
  if (
    questionCounts.some(({ joined }) => joined > 0) &&
    questionCounts.every((counts) => counts.joined === counts.skipped)
  )
    return printable`${labelsFileName} has only skips or ties of labelers.`;
  const blankNote = blankLabels === 0 ? "" : ` ${describeBlank(blankLabels)}`;
  const wanted = missingQuestion ?? questions?.join(", ");
  return describeUnjoined(labelsFileName, questionCounts, { wanted }) + blankNote;
}
