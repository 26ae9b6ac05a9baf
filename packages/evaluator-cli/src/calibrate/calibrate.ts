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
  exitCodes,
  printable,
  toPrintablePath,
  UsageError,
} from "evaluator-kit";
import type { CalibrateOptions } from "../commands/report-commands.ts";
import { readQuestionsFile } from "../files/read-json-files.ts";
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
  checkColumn("--by", typed, labels.groups.list);
  checkColumn("--one-per", typed, labels.clusters.list);
  const input = { answers, join: labels, labelsFile };
  const report = buildReport(input, options);
  if (report.reports.length === 0) {
    throw new CliError(describeEmptyJoin(report), { exitCode: exitCodes.notEnoughEvidence });
  }
  checkActions(report, typed);
  const json = `${JSON.stringify(report, null, 2)}\n`;
  const artifact = toArtifact(report, input, asked);
  const files: [name: string, content: string][] = [
    ["report.json", json],
    ["report.html", reportPage(report)],
  ];
  if (artifact !== null && typeof artifact !== "string") {
    files.push(["calibration.json", `${JSON.stringify(artifact, null, 2)}\n`]);
  }
  await writeReport(typed.out, files, context);
  context.stdout.write(typed.json === true ? json : printReport(report));
  const names = files.map(([name]) => name);
  context.stderr.write(describeWritten(typed.out, names));
  for (const note of notesOn(artifact, typed.out, context)) context.stderr.write(`${note}\n`);
  const isPromised = report.reports.every(({ actions }) =>
    actions.some(({ promised }) => promised !== null),
  );
  if (typed.require !== undefined && !isPromised) context.exitCode = exitCodes.notEnoughEvidence;
}

function* notesOn(artifact: ReturnType<typeof toArtifact>, out: string, { cwd }: CliContext) {
  if (artifact !== null && typeof artifact !== "string") {
    if (artifact.questionHash === null)
      yield "calibration.json has no question hash, so calibrate() and the programs that apply it refuse it; --questions q.json adds the hash.";
    return;
  }
  if (artifact !== null) yield artifact;
  const old = join(out, "calibration.json");
  if (existsSync(resolve(cwd, old)))
    yield printable`${old} is of an earlier report; this one promises nothing.`;
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
  option: "--by" | "--one-per",
  { labels, by, onePer }: CalibrateOptions,
  found: readonly string[],
): void {
  const column = option === "--by" ? by : onePer;
  if (column === undefined || found.length > 0) return;
  const problem = printable`No label of ${labels} has anything in the column "${column}".`;
  throw new CliError(`${problem} Name another with ${option}, or leave it out.`);
}

const actsOf = { probability: ["yes", "no"], distribution: ["top"] } as const;

/** @throws UsageError for an act on a question without labels, or that its answers do not have. */
function checkActions({ reports }: CalibrationReport, { action: acts = [] }: CalibrateOptions) {
  const known = new Set(
    reports.flatMap(({ question, form }) => actsOf[form].map((act) => `${question}=${act}`)),
  );
  const misfit = acts.find(({ question, action }) => !known.has(`${question}=${action}`));
  if (misfit === undefined) return;
  const problem = printable`--action ${misfit.question}=${misfit.action} fits no labelled question`;
  throw new UsageError(printable`${problem}; there are ${[...known].join(", ")}.`);
}

function describeEmptyJoin({ join }: CalibrationReport): string {
  const counts = join.map(({ question, labelled }) => `${question}: ${labelled}`).join(", ");
  return `No label has an answer (labels by question: ${counts || "none"}). Check that the ids are the same in both files.`;
}

/** Returns the report in lines for a terminal: the join first, then each question. */
function printReport(report: CalibrationReport): string {
  const { join, blankLabels, notes, reports } = report;
  const blank = blankLabels === 0 ? [] : [`${count(blankLabels)} labels are not filled in yet.`];
  const questions = reports.flatMap((question) => [""].concat(describeQuestion(question, report)));
  const lines = [...join.map(describeJoin), ...blank, ...notes, ...questions];
  return `${lines.map(toPrintablePath).join("\n")}\n`;
}

function row(name: string, text: string): string {
  return name.padEnd(18) + text;
}

function describeQuestion(
  question: QuestionReport & { sentence: string },
  report: CalibrationReport,
) {
  const { scores, source, curve, recalibration, form } = question;
  const { skill, accuracy, constant, brier, logLoss } = scores;
  const { heldOut, note, recalibration: fit } = recalibration;
  const rates = describeRates(question);
  const scale = form === "probability" ? "" : " (0 to 2)";
  const curveLines =
    curve === null
      ? ["Fewer than 30 labels: scores only, no curve."]
      : [
          row(
            "miscalibration",
            `${curve.miscalibration.toFixed(4)}; by chance up to ${curve.miscalibrationByChance.toFixed(4)}`,
          ),
          row(
            "ECE (secondary)",
            `${curve.calibrationError.equalWidth.toFixed(3)}; by chance ${curve.calibrationError.equalWidthByChance.toFixed(3)}`,
          ),
        ];
  const gain =
    heldOut === null || fit === null
      ? null
      : `recalibrated (${fit.kind}): log loss on rows it had not seen ${heldOut.before.toFixed(4)} -> ${heldOut.after.toFixed(4)}`;
  const lines = [
    describeBasis(source.basis),
    row("by", `${nameSource(source)}; labels by ${describeLabelers(question)}`),
    ...describeLabels(question),
    row("skill", `${percent(skill.value)} (${range(skill)}); always "${constant.always}": 0 %`),
    row(
      "accuracy",
      `${percent(accuracy.value)} (${range(accuracy)}); always "${constant.always}": ${percent(constant.accuracy)}`,
    ),
    row("Brier score", `${brier.toFixed(4)}${scale}; base rate: ${constant.brier.toFixed(4)}`),
    row(
      "log loss",
      `${logLoss.value.toFixed(4)}; base rate: ${constant.logLoss.toFixed(4)}; ${count(logLoss.clipped)} clipped, ${count(logLoss.clippedAndWrong)} of them wrong`,
    ),
    ...curveLines,
    rates === null ? null : row("answers at 0.5", rates),
    ...describePermissions(question, report),
    gain,
    note,
  ];
  const shown = lines.filter((line) => line !== null).map((line) => `  ${line}`);
  return [question.sentence, ...shown];
}
