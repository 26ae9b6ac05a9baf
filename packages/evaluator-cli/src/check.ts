import { resolve } from "node:path";
import {
  type AnswerSource,
  AnswerTable,
  type CalibrationArtifact,
  checkThreshold,
  type InputRecord,
  type JoinedColumn,
  LabelJoin,
  type ThresholdCheck,
  toLabelledRows,
} from "evaluator-calibration";
import { CliError, type CliContext, printable, exitCodes } from "evaluator-kit";
import type { CheckOptions } from "./commands/report-commands.ts";
import { hashOfId } from "./files/labelled-ids.ts";
import { readAnswers } from "./files/read-answers.ts";
import { readArtifact } from "./files/read-artifact.ts";
import { readRecords } from "./files/read-records.ts";
import { describeCheck } from "./report/sentences.ts";

/** Tests promised thresholds again on new labels. */
export async function check(
  name: string,
  options: CheckOptions,
  context: CliContext,
): Promise<void> {
  const artifact = await readArtifact(name, context);
  if (artifact.thresholds.length === 0) {
    const problem = "The calibration holds no promised threshold, so there is nothing to check.";
    throw new CliError(problem, { exitCode: exitCodes.notEnoughEvidence });
  }
  const table =
    options.answers === undefined
      ? await answersOfLabels(options, context)
      : (await readAnswers(options.answers, options, context)).table;
  const join = new LabelJoin(table, options);
  const labels = { name: options.labels, path: resolve(context.cwd, options.labels), csv: true };
  const { fittedOn } = artifact;
  const made = new Set(fittedOn.ids);
  let used = 0;
  const { sha256 } = await readRecords(labels, context, (record) => {
    // A label that made the promise cannot test it.
    if (made.has(hashOfId(idIn(record)))) used += 1;
    else join.add(record, labels.name);
  });
  const columns = join.columns.filter(({ column }) =>
    artifact.thresholds.some(({ question }) => question === column.question),
  );
  if (sha256 === fittedOn.hash || (used > 0 && columns.length === 0)) {
    const problem = "These labels made the promise, so they cannot test it.";
    throw new CliError(`${problem} Label other records of the same model and questions.`);
  }
  for (const { column, rows } of columns) refuseOthers(artifact, column.source, rows.length);
  const checks = checkAll(artifact, columns);
  const skipped = columns.flatMap(({ truth }) => truth).filter((truth) => truth < 0).length;
  const notes = [...describeSkips(skipped), ...describeLimits(artifact, used)];
  if (options.json === true)
    context.stdout.write(`${JSON.stringify({ notes, checks }, null, 2)}\n`);
  else context.stdout.write([...notes, ...checks.map(describeCheck), ""].join("\n"));
  context.exitCode = endingOf(checks);
}

function idIn({ value }: InputRecord): string {
  const { id } = (typeof value === "object" && value !== null ? value : {}) as { id?: unknown };
  return typeof id === "string" || typeof id === "number" ? String(id) : "";
}

const unnamed = "a model that is not named";

/** @throws CliError for answers that the thresholds were not promised for. */
function refuseOthers(
  { model, questionHash }: CalibrationArtifact,
  source: AnswerSource,
  labels: number,
): void {
  const isNamed = source.questionHash !== null && questionHash !== null;
  const problem =
    source.modelId !== model.id
      ? `are of ${source.modelId ?? unnamed}; the thresholds were promised for ${model.id ?? unnamed}`
      : isNamed
        ? "are to other questions than the thresholds were promised for"
        : `and the calibration may be of different questions: only ${questionHash === null ? "the answers name" : "the calibration names"} them by a question hash`;
  if (source.modelId === model.id && source.questionHash === questionHash) return;
  throw new CliError(
    printable`${String(labels)} labelled answers ${problem}. Check answers of the same model to the same questions, or calibrate again.`,
  );
}

function describeSkips(skipped: number): string[] {
  if (skipped === 0) return [];
  return [`${skipped} labels are skipped, or labelers tie on them: they count as wrong.`];
}

function describeLimits({ questionHash, fittedOn }: CalibrationArtifact, used: number): string[] {
  const missing = fittedOn.n - (fittedOn.ids?.length ?? 0);
  return [
    ...(used === 0 ? [] : [`${used} labels are left out: they made the promise.`]),
    ...(missing <= 0
      ? []
      : [`The calibration does not name ${missing} labels it was made from; give new ones only.`]),
    ...(questionHash !== null
      ? []
      : [
          "Neither the calibration nor the answers name their questions; make sure they are the same.",
        ]),
    "A check that is repeated is one of several: each more raises the chance of a false alarm.",
  ];
}

async function answersOfLabels(
  { labels: name, last }: CheckOptions,
  context: CliContext,
): Promise<AnswerTable> {
  const table = new AnswerTable({ last });
  const file = { name, path: resolve(context.cwd, name) };
  await readRecords(file, context, (record) => table.addRecord(record, name));
  return table;
}

function checkAll(
  { thresholds }: CalibrationArtifact,
  joined: readonly JoinedColumn[],
): ThresholdCheck[] {
  return thresholds.flatMap((locked) => {
    const columns = joined.filter(({ column }) => column.question === locked.question);
    // No label of this question: none of them is at the threshold.
    if (columns.length === 0) return [checkThreshold(locked, { p: [], cameTrue: [] })];
    return columns.map((column) => checkThreshold(locked, toLabelledRows(column).tested));
  });
}

function endingOf(checks: readonly ThresholdCheck[]): number {
  if (checks.some(({ verdict }) => verdict === "broken")) return exitCodes.failed;
  const isSure = checks.every(({ verdict }) => verdict === "holds");
  return isSure ? exitCodes.done : exitCodes.notEnoughEvidence;
}
