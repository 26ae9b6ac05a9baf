import {
  type CalibrationArtifact,
  checkThreshold,
  type JoinedColumn,
  type ThresholdCheck,
  toLabelledRows,
} from "evaluator-calibration";
import { CliError, type CliContext, exitCodes, printable } from "evaluator-kit";
import type { ReportOptions } from "./commands/report-commands.ts";
import { describeNewLabels, joinNewLabels } from "./new-labels.ts";
import { readAnswers, readArtifact } from "./read-files.ts";
import { describeCheck } from "./report/sentences.ts";

type CheckOptions = ReportOptions<"check">;

/** Tests promised thresholds again on new labels. */
export async function check(name: string, options: CheckOptions, context: CliContext) {
  const artifact = await readArtifact(name, context);
  if (artifact.thresholds.length === 0) {
    const problem = "The calibration holds no promised threshold, so there is nothing to check.";
    throw new CliError(problem, { exitCode: exitCodes.notEnoughEvidence });
  }
  const { labels, last, allowUnknown } = options;
  // Labels may hold their answers.
  const { table } = await readAnswers(options.answers ?? [labels], options, context);
  const given = { labels, last, allowUnknown, artifacts: [artifact] };
  const found = await joinNewLabels(table, given, context);
  const columns = found.join.columns.filter(({ column }) =>
    artifact.thresholds.some(({ question }) => question === column.question),
  );
  for (const column of columns) refuseOthers(artifact, column);
  const checks = artifact.thresholds.flatMap((locked) => {
    const tested = columns.filter(({ column }) => column.question === locked.question);
    // Without a label of the question, no row is at the threshold.
    if (tested.length === 0) return [checkThreshold(locked, { p: [], cameTrue: [] })];
    return tested.map((column) => checkThreshold(locked, toLabelledRows(column).tested));
  });
  const notes = [...describeNewLabels(found, [artifact]), ...describeChecks(artifact)];
  if (options.json === true) {
    context.stdout.write(`${JSON.stringify({ notes, checks }, null, 2)}\n`);
  } else context.stdout.write([...notes, ...checks.map(describeCheck), ""].join("\n"));
  context.exitCode = exitCodeOf(checks);
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

function* describeChecks({ questionHash }: CalibrationArtifact) {
  if (questionHash === null)
    yield "Neither the calibration nor the answers name their questions; make sure they are the same.";
  yield "A check that is repeated is one of several: each more raises the chance of a false alarm.";
}

/** Returns the exit code of promises that were tested again. */
export function exitCodeOf(checks: readonly Pick<ThresholdCheck, "verdict">[]): number {
  if (checks.some(({ verdict }) => verdict === "broken")) return exitCodes.failed;
  const isSure = checks.every(({ verdict }) => verdict === "holds");
  return isSure ? exitCodes.done : exitCodes.notEnoughEvidence;
}
