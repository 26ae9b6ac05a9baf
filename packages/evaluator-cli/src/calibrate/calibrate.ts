import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  type AnswerTable,
  LabelJoin,
  questionHash,
  type QuestionReport,
} from "evaluator-calibration";
import {
  type CliContext,
  CliError,
  printable,
  toPrintablePath,
  UsageError,
  exitCodes,
} from "evaluator-kit";
import type { CalibrateOptions } from "../commands/report-commands.ts";
import { readQuestionsFile } from "../engines/asked-questions.ts";
import { answerNames, readAnswers } from "../files/read-answers.ts";
import { readRecords } from "../files/read-records.ts";
import { describeWritten, writeReport } from "../files/write-report.ts";
import {
  count,
  describeBasis,
  describeJoin,
  describeLabelers,
  describeLabels,
  describePermissions,
  describeRates,
  nameSource,
  percent,
  range,
} from "../report/sentences.ts";
import {
  buildReport,
  type CalibrationReport,
  toArtifact,
  toReportOptions,
} from "./calibration-report.ts";
import { reportPage } from "./report-page.ts";

/** Prints and writes the report on labelled records, and the artifact. */
export async function calibrate(typed: CalibrateOptions, context: CliContext): Promise<void> {
  const options = toReportOptions(typed);
  const asked =
    typed.questions === undefined
      ? null
      : questionHash(await readQuestionsFile(typed.questions, context));
  const answers = await readAnswers(answerNames(typed.answers, typed.more), options, context);
  checkAsked(answers.table, asked);
  const labels = new LabelJoin(answers.table, options);
  const file = { name: typed.labels, path: resolve(context.cwd, typed.labels), csv: true };
  const labelsFile = await readRecords(file, context, (record) => {
    labels.add(record, typed.labels);
  });
  const { groups, clusters } = labels;
  checkColumn({ option: "--by", column: options.by, names: groups.list }, typed);
  checkColumn({ option: "--one-per", column: options.onePer, names: clusters.list }, typed);
  const input = { answers, join: labels, labelsFile };
  const report = buildReport(input, options);
  if (report.reports.length === 0) {
    throw new CliError(describeEmptyJoin(report), { exitCode: exitCodes.notEnoughEvidence });
  }
  checkActions(report, typed);
  const { files, note } = filesOf(report, toArtifact(report, input, asked));
  await writeReport(typed.out, files, context);
  context.stdout.write(typed.json === true ? `${toJson(report)}\n` : printReport(report));
  context.stderr.write(
    describeWritten(
      typed.out,
      files.map(([name]) => name),
    ),
  );
  if (note !== null) context.stderr.write(`${note}\n`);
  const old = join(typed.out, "calibration.json");
  if (
    files.every(([name]) => name !== "calibration.json") &&
    existsSync(resolve(context.cwd, old))
  ) {
    context.stderr.write(printable`${old} is of an earlier report; this one promises nothing.\n`);
  }
  const isPromised = report.reports.every(({ actions }) =>
    actions.some(({ promised }) => promised !== null),
  );
  if (typed.require !== undefined && !isPromised) context.exitCode = exitCodes.notEnoughEvidence;
}

/** @throws CliError if the answers were given to other questions than those of the file. */
function checkAsked({ columns }: AnswerTable, asked: string | null): void {
  const isSame = columns.every(
    ({ source }) => asked === null || (source.questionHash ?? asked) === asked,
  );
  if (isSame) return;
  throw new CliError("The answers were given to other questions than those of --questions.");
}

/** @throws CliError for a column that no label has. */
function checkColumn(
  {
    option,
    column,
    names,
  }: { option: string; column: string | undefined; names: readonly string[] },
  { labels }: CalibrateOptions,
): void {
  if (column === undefined || names.length > 0) return;
  const what = printable`No label of ${labels} has anything in the column "${column}".`;
  throw new CliError(`${what} Name another with ${option}, or leave it out.`);
}

/** @throws UsageError for an action on a question that has no labels, or is of another kind. */
function checkActions(
  { reports }: CalibrationReport,
  { action: actions = [] }: CalibrateOptions,
): void {
  const misfit = actions.find(({ question, action }) =>
    reports.every(
      (one) => one.question !== question || (one.kind === "boolean") === (action === "top"),
    ),
  );
  if (misfit === undefined) return;
  const known = reports.map(({ question, kind }) =>
    kind === "boolean" ? `${question}=yes, ${question}=no` : `${question}=top`,
  );
  const what = printable`--action ${misfit.question}=${misfit.action} fits no labelled question`;
  throw new UsageError(printable`${what}; there are ${[...new Set(known)].join(", ")}.`);
}

function describeEmptyJoin({ join }: CalibrationReport): string {
  const counts = join.map(({ question, labelled }) => `${question}: ${labelled}`).join(", ");
  return `No label has an answer (labels by question: ${counts || "none"}). Check that the ids are the same in both files.`;
}

/** Returns what is kept of a report, each file with its content, and a word about what is not. */
function filesOf(report: CalibrationReport, kept: ReturnType<typeof toArtifact>) {
  const files: [name: string, content: string][] = [
    ["report.json", `${toJson(report)}\n`],
    ["report.html", reportPage(report)],
  ];
  if (kept === null || typeof kept === "string") return { files, note: kept };
  files.push(["calibration.json", `${JSON.stringify(kept, null, 2)}\n`]);
  const note =
    kept.questionHash === null
      ? "calibration.json has no question hash, so calibrate() and the programs that apply it refuse it; --questions q.json adds the hash."
      : null;
  return { files, note };
}

// Numbers that no label can give (of one truth only) are null in JSON.
function toJson(report: CalibrationReport): string {
  return JSON.stringify(report, null, 2);
}

/** Returns the report in lines for a terminal: the join first, then each question. */
function printReport(report: CalibrationReport): string {
  const lines = [
    ...report.join.map(describeJoin),
    ...(report.blankLabels === 0
      ? []
      : [`${count(report.blankLabels)} labels are not filled in yet.`]),
    ...report.notes,
    ...report.reports.flatMap((question) => ["", ...describeQuestion(question, report)]),
  ];
  return `${lines.map(toPrintablePath).join("\n")}\n`;
}

function describeQuestion(
  question: QuestionReport & { sentence: string },
  report: CalibrationReport,
) {
  const { scores, source, curve, recalibration } = question;
  const { skill, accuracy, constant } = scores;
  const basis = describeBasis(source.basis);
  const rates = describeRates(question);
  return [
    question.sentence,
    ...(basis === null ? [] : [`  ${basis}`]),
    `  by                ${nameSource(source)}; labels by ${describeLabelers(question)}`,
    ...describeLabels(question).map((line) => `  ${line}`),
    `  skill             ${percent(skill.value)} (${range(skill)}); always "${constant.always}": 0 %`,
    `  accuracy          ${percent(accuracy.value)} (${range(accuracy)}); always "${constant.always}": ${percent(constant.accuracy)}`,
    `  Brier score       ${scores.brier.toFixed(4)}${question.kind === "boolean" ? "" : " (0 to 2)"}; base rate: ${constant.brier.toFixed(4)}`,
    `  log loss          ${scores.logLoss.value.toFixed(4)}; base rate: ${constant.logLoss.toFixed(4)}; ${count(scores.logLoss.clipped)} clipped, ${count(scores.logLoss.clippedAndWrong)} of them wrong`,
    ...(curve === null
      ? ["  Fewer than 30 labels: scores only, no curve."]
      : [
          `  miscalibration    ${curve.miscalibration.toFixed(4)}; by chance up to ${curve.miscalibrationByChance.toFixed(4)}`,
          `  ECE (secondary)   ${curve.calibrationError.equalWidth.toFixed(3)}; by chance ${curve.calibrationError.equalWidthByChance.toFixed(3)}`,
        ]),
    ...(rates === null ? [] : [`  answers at 0.5    ${rates}`]),
    ...describePermissions(question, report).map((line) => `  ${line}`),
    ...(recalibration.heldOut === null || recalibration.recalibration === null
      ? []
      : [
          `  recalibrated (${recalibration.recalibration.kind}): log loss on rows it had not seen ${recalibration.heldOut.before.toFixed(4)} -> ${recalibration.heldOut.after.toFixed(4)}`,
        ]),
    ...(recalibration.note === null ? [] : [`  ${recalibration.note}`]),
  ];
}
