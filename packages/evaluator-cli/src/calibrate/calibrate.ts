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
  type CliContext,
  CliError,
  exitCodes,
  printable,
  tooLittleEvidence,
  UsageError,
} from "evaluator-kit";
import { reportsBeside } from "evaluator-kit/page";
import type { CalibrateOptions } from "../commands/report-commands.ts";
import { answerNames, readAnswers, readQuestionsFile, readRecords } from "../read-files.ts";
import { writeReport } from "../write-report.ts";
import { replaceCalibration, toArtifact } from "./calibration-file.ts";
import { buildReport, type CalibrationReport, printReport } from "./calibration-report.ts";
import { reportPage } from "./report-page.ts";

/** Prints and writes the report on labelled records, and the artifact. */
export async function calibrate(command: CalibrateOptions, context: CliContext): Promise<void> {
  const questions = command.question ?? command.action?.map(({ question }) => question);
  const options = { ...command, questions };
  const file = await readQuestionsFile(command.questions, context);
  const askedHash = file && questionHash(file);
  const answers = await readAnswers(answerNames(command.answers, command.more), options, context);
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
  checkReport(report, command);
  const artifact = toArtifact(report, input, askedHash);
  const looks = countLooks(command, report, context);
  const pages = await reportsBeside(join(resolve(context.cwd, command.out), "report.html"));
  const calibration = await replaceCalibration(artifact, { report, out: command.out }, context);
  const files = {
    "report.json": { ...report, artifact: calibration.hash, looks },
    "report.html": reportPage(report, pages),
    ...calibration.files,
  };
  const printedText = command.json === true ? null : printReport(report);
  await writeReport({ out: command.out, files, printed: printedText }, context);
  const cost = looks === 1 ? [] : [noteOnLooks(looks)];
  for (const line of [...calibration.notes, ...cost]) context.stderr.write(`${line}\n`);
  const isPromised = report.reports.every(({ actions }) =>
    actions.some(({ promised: promisedThreshold }) => promisedThreshold !== null),
  );
  if (command.require !== undefined && !isPromised) context.exitCode = exitCodes.notEnoughEvidence;
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
    // Another program's file of this name counts nothing.
    return 1;
  }
}

function noteOnLooks(looks: number): string {
  return `This is report ${looks} on these labels as they grow. A promise that is looked for again and again is broken in 8 to 21 % of cases, not in 5 %: decide on the number of labels first, or use label --for-promise.`;
}

/** @throws CliError if the answers were given to other questions than those of the file. */
function checkAsked({ columns }: AnswerTable, askedHash: string | null): void {
  const hashes = columns.flatMap(({ source }) => source.questionHash ?? []);
  if (askedHash === null || hashes.every((hash) => hash === askedHash)) return;
  throw new CliError("The answers are to other questions; name the file that was asked.");
}

/** @throws CliError for a column that no label has. */
function checkColumns({ labels, by, onePer }: CalibrateOptions, join: LabelJoin): void {
  const columns = [
    { option: "--by", column: by, found: join.groups },
    { option: "--one-per", column: onePer, found: join.clusters },
  ];
  for (const { option, column, found: foundNames } of columns) {
    if (column === undefined || foundNames.list.length > 0) continue;
    const problem = printable`No label of ${labels} has a value in the column "${column}"`;
    throw new CliError(`${problem}; name another with ${option}.`);
  }
}

/** @throws an error without a labelled answer, or for an act that no labelled question has. */
function checkReport(
  { reports, join }: CalibrationReport,
  { action: acts = [] }: CalibrateOptions,
) {
  if (reports.length === 0) {
    const counts = join
      .map(({ question, labelled: labelledCount }) => `${question}: ${labelledCount}`)
      .join(", ");
    const problem = `No label has an answer (labels by question: ${counts || "none"})`;
    throw tooLittleEvidence(`${problem}. Compare the ids of the two files.`);
  }
  const knownNames = new Set(
    reports.flatMap(({ question, form }) => actionsOf[form].map((act) => `${question}=${act}`)),
  );
  const misfit = acts.find(({ question, action }) => !knownNames.has(`${question}=${action}`));
  if (misfit === undefined) return;
  const problem = printable`--action ${misfit.question}=${misfit.action} fits no labelled question`;
  throw new UsageError(printable`${problem}; there are ${[...knownNames].join(", ")}.`);
}
