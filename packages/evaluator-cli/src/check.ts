import {
  type CalibrationArtifact,
  checkThreshold,
  type JoinedColumn,
  LabelJoin,
  type ThresholdCheck,
  toLabelledRows,
} from "evaluator-calibration";
import { CliError, type CliContext, exitCodes, printable } from "evaluator-kit";
import type { ReportOptions } from "./commands/report-commands.ts";
import { fieldsOf, hashOfId, readAnswers, readArtifact, readRecords } from "./read-files.ts";
import { describeCheck } from "./report/sentences.ts";

type CheckOptions = ReportOptions<"check">;

/** Tests promised thresholds again on new labels. */
export async function check(name: string, options: CheckOptions, context: CliContext) {
  const artifact = await readArtifact(name, context);
  if (artifact.thresholds.length === 0) {
    const problem = "The calibration holds no promised threshold, so there is nothing to check.";
    throw new CliError(problem, { exitCode: exitCodes.notEnoughEvidence });
  }
  const { columns, used } = await joinNewLabels(artifact, options, context);
  for (const column of columns) refuseOthers(artifact, column);
  const checks = artifact.thresholds.flatMap((locked) => {
    const found = columns.filter(({ column }) => column.question === locked.question);
    // Without a label of the question, no row is at the threshold.
    if (found.length === 0) return [checkThreshold(locked, { p: [], cameTrue: [] })];
    return found.map((column) => checkThreshold(locked, toLabelledRows(column).tested));
  });
  const skipped = columns.flatMap(({ truth }) => truth).filter((truth) => truth < 0).length;
  const notes = [...notesOn(artifact, used, skipped)];
  if (options.json === true) {
    context.stdout.write(`${JSON.stringify({ notes, checks }, null, 2)}\n`);
  } else context.stdout.write([...notes, ...checks.map(describeCheck), ""].join("\n"));
  context.exitCode = endingOf(checks);
}

/** Joins the labels that did not make the promise with the answers. */
async function joinNewLabels(
  { fittedOn, thresholds }: CalibrationArtifact,
  options: CheckOptions,
  context: CliContext,
) {
  const file = { name: options.labels, csv: true };
  // Labels may hold their answers.
  const { table } = await readAnswers(options.answers ?? [file.name], options, context);
  const join = new LabelJoin(table, options);
  const made = new Set(fittedOn.ids);
  let used = 0;
  const { sha256 } = await readRecords(file, context, (record) => {
    const { id } = fieldsOf(record.value);
    const isText = typeof id === "string" || typeof id === "number";
    if (isText && made.has(hashOfId(String(id)))) used += 1;
    else join.add(record, file.name);
  });
  const columns = join.columns.filter(({ column }) =>
    thresholds.some(({ question }) => question === column.question),
  );
  if (sha256 === fittedOn.hash || (used > 0 && columns.length === 0)) {
    const problem = "These labels made the promise, so they cannot test it.";
    throw new CliError(`${problem} Label other records of the same model and questions.`);
  }
  return { columns, used };
}

const unnamed = "a model that is not named";

/** @throws CliError for answers that the thresholds were not promised for. */
function refuseOthers({ model, questionHash }: CalibrationArtifact, joined: JoinedColumn): void {
  const { source } = joined.column;
  if (source.modelId === model.id && source.questionHash === questionHash) return;
  const isNamed = source.questionHash !== null && questionHash !== null;
  const problem =
    source.modelId !== model.id
      ? `are of ${source.modelId ?? unnamed}; the thresholds were promised for ${model.id ?? unnamed}`
      : isNamed
        ? "are to other questions than the thresholds were promised for"
        : `and the calibration may be of different questions: only ${questionHash === null ? "the answers name" : "the calibration names"} them by a question hash`;
  throw new CliError(
    printable`${String(joined.rows.length)} labelled answers ${problem}. Check answers of the same model to the same questions, or calibrate again.`,
  );
}

function* notesOn({ questionHash, fittedOn }: CalibrationArtifact, used: number, skipped: number) {
  const missing = fittedOn.n - (fittedOn.ids?.length ?? 0);
  if (skipped > 0)
    yield `${skipped} labels are skipped, or labelers tie on them: they count as wrong.`;
  if (used > 0) yield `${used} labels are left out: they made the promise.`;
  if (missing > 0)
    yield `The calibration does not name ${missing} labels it was made from; give new ones only.`;
  if (questionHash === null)
    yield "Neither the calibration nor the answers name their questions; make sure they are the same.";
  yield "A check that is repeated is one of several: each more raises the chance of a false alarm.";
}

function endingOf(checks: readonly ThresholdCheck[]): number {
  if (checks.some(({ verdict }) => verdict === "broken")) return exitCodes.failed;
  const isSure = checks.every(({ verdict }) => verdict === "holds");
  return isSure ? exitCodes.done : exitCodes.notEnoughEvidence;
}
