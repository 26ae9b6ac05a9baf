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
  answerNames,
  checkAnswered,
  modelsOf,
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
  const file = await readQuestionsFile(command.questions, context);
  const askedHash = file && questionHash(file);
  const names = answerNames(command.answers, command.more);
  const answers = await readAnswers(names, options, context);
  checkAnswered(answers.table, names);
  checkTypedNames(options, answers.table);
  checkAsked(answers.table, askedHash);
  const labels = new LabelJoin(answers.table, options);
  const { labels: name } = command;
  const labelsFile = await readRecords(name, context, (record) => {
    labels.add(record, name);
  });
  checkColumns(command, labels);
  const plans = await plannedPromises(command, labels, context);
  const input = { answers, join: labels, labelsFile, planned: plans };
  const report = await buildReport(input, command);
  const missing = describeMissing(report, options);
  const artifact = toArtifact(report, input, askedHash);
  const looks = countLooks(command, report, context);
  const calibration = await replaceCalibration(artifact, { report, out: command.out }, context);
  // A report on nothing is written only if it ends an earlier promise.
  if (missing === null || calibration.files !== null)
    await writeFiles({ report, missing, looks, calibration }, command, context);
  const cost = looks === 1 ? [] : [noteOnLooks(looks)];
  for (const line of [...calibration.notes, ...cost]) context.stderr.write(`${line}\n`);
  if (missing !== null) throw tooLittleEvidence(missing);
  const isPromised = report.reports.every(({ actions }) =>
    actions.some(({ promised: promisedThreshold }) => promisedThreshold !== null),
  );
  if (command.require !== undefined && !isPromised) context.exitCode = exitCodes.notEnoughEvidence;
}

interface Result {
  readonly report: CalibrationReport;
  /** See `describeMissing`. */
  readonly missing: string | null;
  readonly looks: number;
  readonly calibration: Awaited<ReturnType<typeof replaceCalibration>>;
}

/** Writes the files of a report and prints its text, or nothing if the report has no evidence. */
async function writeFiles(
  { report, missing, looks, calibration }: Result,
  { out, json: isJson }: CalibrateOptions,
  context: CliContext,
) {
  const shown = missing === null ? report : { ...report, notes: [missing, ...report.notes] };
  const pages = await reportsBeside(join(resolve(context.cwd, out), "report.html"));
  const files = {
    "report.json": { ...shown, artifact: calibration.hash, looks },
    "report.html": reportPage(shown, pages),
    ...calibration.files,
  };
  const text = isJson === true ? null : printReport(report);
  await writeReport({ out, files, printed: missing === null ? text : "" }, context);
}

/**
 * Returns the promises that labels were drawn for one by one, by the plan beside their file.
 *
 * @throws CliError if the plan promises something else.
 */
async function plannedPromises(
  { labels, action: wantedQuestionActions, require: maxRisk, confidence }: CalibrateOptions,
  join: LabelJoin,
  { cwd }: CliContext,
): Promise<PlannedPromise[]> {
  if (join.plans.size === 0) return [];
  const { isOneOf, readPlan, toPlanPath } = await import("evaluator-runs");
  const file = toPlanPath(labels);
  const plan = await readPlan(resolve(cwd, file));
  const { questions } = join.table;
  const isWanted = isOneOf(wantedQuestionActions ?? plan.actions);
  const plans = replayPlan(plan, join, {
    file,
    isWanted: (action) => questions.includes(action.question) && isWanted(action),
  });
  const spentAmount = plans.reduce((sum, { level }) => sum + level, 0);
  if ((maxRisk ?? plan.maxRisk) === plan.maxRisk && spentAmount < 1 - confidence + 1e-9)
    return plans;
  const words = `--require ${plan.maxRisk} --confidence ${plan.confidence}`;
  throw new CliError(printable`${file} promises ${words}; use these, or other acts with --action.`);
}

/** Returns how many reports in the folder were made from these labels while they grew. */
function countLooks(
  { out, labels }: CalibrateOptions,
  report: CalibrationReport,
  context: CliContext,
) {
  const path = resolve(context.cwd, out, "report.json");
  if (!existsSync(path)) return 1;
  try {
    const former = JSON.parse(readFileSync(path, "utf8")) as CalibrationReport & { looks?: number };
    if (former.files.labels.name !== labels) return 1;
    const isSame = former.files.labels.sha256 === report.files.labels.sha256;
    // Labels that were drawn for a promise may be looked at after each one.
    const isSearched = report.reports.some(({ n }) => n > 0);
    return (former.looks ?? 1) + (isSame || !isSearched ? 0 : 1);
  } catch {
    // A file that was changed by hand counts nothing.
    return 1;
  }
}

function noteOnLooks(looks: number): string {
  return `This is report ${looks} on these labels as they grow. A promise that is looked for again and again is broken in 8 to 21 % of cases, not in 5 %: decide on the number of labels first, or use label --for-promise.`;
}

type TypedNames = Pick<CalibrateOptions, "labels" | "model" | "action"> & {
  readonly questions: readonly string[] | undefined;
};

/** @throws an error for a question, a model or an act that the answers do not have. */
function checkTypedNames(
  { questions = [], model, action: acts = [] }: TypedNames,
  { allQuestions, columns }: AnswerTable,
): void {
  for (const question of questions) checkName("question", question, allQuestions);
  checkName("model", model, modelsOf(columns));
  for (const { question, action } of acts) {
    const own = columns.filter((column) => column.question === question);
    const words = new Set(own.flatMap(({ form }) => actionsOf[form]));
    if (words.size === 0 || words.has(action)) continue;
    const right = Array.from(words, (word) => `${question}=${word}`).join(" or ");
    throw new UsageError(printable`--action ${question}=${action} fits no answer; use ${right}.`);
  }
}

/** @throws CliError if the answers were given to other questions than those of the file. */
function checkAsked({ columns }: AnswerTable, askedHash: string | null): void {
  const hashes = columns.flatMap(({ source }) => source.questionHash ?? []);
  if (askedHash === null || hashes.every((hash) => hash === askedHash)) return;
  throw new CliError("The answers are to other questions; name the file that was asked.");
}

/** @throws CliError for a column that no label has, if there are labels. */
function checkColumns({ labels, by, onePer }: CalibrateOptions, join: LabelJoin): void {
  if (join.columns.length + join.drawn.length === 0) return;
  const columns = [
    { option: "--by", column: by, found: join.groups },
    { option: "--one-per", column: onePer, found: join.clusters },
  ];
  for (const { option, column, found: foundNames } of columns) {
    if (column === undefined || foundNames.list.length > 0) continue;
    const problem = printable`No label of ${labels} has a value in the column "${column}"`;
    const labelerNames = join.labelers.list.length > 0 ? ["labeler"] : [];
    throw missingColumn(problem, option, [...join.repeats.names, ...labelerNames]);
  }
}

/** Returns a sentence if no label has an answer, or none of a question that an act is wanted on. */
function describeMissing(
  { reports, join, blankLabels }: CalibrationReport,
  { labels: name, action: acts, questions }: TypedNames,
): string | null {
  const reported = new Set(reports.map(({ question }) => question));
  const missing = acts?.find(({ question }) => !reported.has(question))?.question;
  if (reported.size > 0 && missing === undefined) return null;
  const own = join.filter(({ question }) => (missing ?? question) === question);
  if (own.some(({ joined }) => joined > 0) && own.every((one) => one.joined === one.skipped))
    return printable`Each label of ${name} is skipped, or its labelers tie.`;
  const blank = blankLabels === 0 ? "" : ` ${describeBlank(blankLabels)}`;
  const wanted = missing ?? questions?.join(", ");
  return describeUnjoined(name, own, { wanted }) + blank;
}
