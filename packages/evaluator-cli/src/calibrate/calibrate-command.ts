import { resolve } from "node:path";
import { type AnswerTable, LabelJoin } from "evaluator-calibration";
import { type CliContext, CliError, printable } from "evaluator-cli-kit";
import { type Command, endings } from "../command.ts";
import { readAnswers } from "../files/read-answers.ts";
import { readRecords } from "../files/read-records.ts";
import { describeWritten, writeReport } from "../files/write-report.ts";
import { reportPage } from "./report-page.ts";
import {
  type CalibrateArguments,
  calibrateUsage,
  parseCalibrateArguments,
} from "./calibrate-arguments.ts";
import { buildReport, type CalibrationReport, toArtifact } from "./calibration-report.ts";
import { printReport } from "./print-report.ts";

/** Prints whether probabilities hold, and writes the page, the numbers and the artifact. */
export const calibrateCommand: Command = {
  examples: [
    "evaluator calibrate labels.ndjson --answers inbox.triage.sqlite",
    "evaluator calibrate labels.csv --answers answers.ndjson --question scam --require 2%",
  ],
  usage: calibrateUsage.trimStart(),
  run: async (words, context) => await calibrate(parseCalibrateArguments(words), context),
};

async function calibrate(options: CalibrateArguments, context: CliContext): Promise<number> {
  const answers = await readAnswers(options.answers, options, context);
  const labels = new LabelJoin(answers.table, options);
  const file = { name: options.labels, path: resolve(context.cwd, options.labels), csv: true };
  const labelsFile = await readRecords(file, context, (record) => {
    labels.add(record, options.labels);
  });
  if (options.by !== undefined && labels.groups.list.length === 0) {
    const what = printable`No label of ${options.labels} has anything in the column "${options.by}".`;
    throw new CliError(`${what} Name another with --by, or leave it out.`);
  }
  const report = buildReport({ answers, join: labels, labelsFile }, options);
  if (report.reports.length === 0) {
    throw new CliError(describeEmptyJoin(report), { exitCode: endings.notEnoughLabels });
  }
  const { files, note } = filesOf(report, answers.table.days);
  await writeReport(options.out, files, context);
  context.stdout.write(options.json ? `${toJson(report)}\n` : printReport(report));
  context.stderr.write(
    describeWritten(
      options.out,
      files.map(([name]) => name),
    ),
  );
  if (note !== null) context.stderr.write(`${note}\n`);
  return endingOf(report, options);
}

function describeEmptyJoin({ join }: CalibrationReport): string {
  const counts = join.map(({ question, labelled }) => `${question}: ${labelled}`).join(", ");
  return `No label has an answer (labels by question: ${counts || "none"}). Check that the ids are the same in both files.`;
}

function endingOf({ reports }: CalibrationReport, { isRequired }: CalibrateArguments): number {
  if (!isRequired) return endings.holds;
  const isPromised = reports.every(({ actions }) =>
    actions.some(({ promised }) => promised !== null),
  );
  return isPromised ? endings.holds : endings.notEnoughLabels;
}

/** Returns what is kept of a report, each file with its content, and a word about what is not. */
function filesOf(report: CalibrationReport, days: AnswerTable["days"]) {
  const kept = toArtifact(report, days);
  const files: [name: string, content: string][] = [
    ["report.json", `${toJson(report)}\n`],
    ["report.html", reportPage(report)],
  ];
  if (kept === null || typeof kept === "string") return { files, note: kept };
  files.push([kept.file, `${JSON.stringify(kept.artifact, null, 2)}\n`]);
  return { files, note: null };
}

// Numbers that no label can give (of one truth only) are null in JSON.
function toJson(report: CalibrationReport): string {
  return JSON.stringify(report, null, 2);
}
