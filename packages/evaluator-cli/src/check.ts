import { resolve } from "node:path";
import type { CalibrationArtifact } from "evaluator-calibration";
import { checkThreshold } from "evaluator-calibration/statistics";
import {
  type JoinedColumn,
  type LabelledRows,
  toLabelledRows,
} from "evaluator-calibration/reports";
import { CliError, type CliContext, exitCodes, paintVerdicts, printable } from "evaluator-kit";
import type { ReportOptions } from "./commands/report-commands.ts";
import { joinNewLabels, readLabels } from "./new-labels.ts";
import { readAnswers, readArtifact } from "./read-files.ts";
import { describeCheck, percent, type TestedThreshold } from "./report/sentences.ts";

type CheckOptions = ReportOptions<"check">;

/** Tests promised thresholds again on new labels. */
export async function check(name: string, options: CheckOptions, context: CliContext) {
  const artifact = await readArtifact(name, context);
  if (artifact.thresholds.length === 0) {
    const problem = "The calibration holds no promised threshold, so there is nothing to check.";
    throw new CliError(problem, { exitCode: exitCodes.notEnoughEvidence });
  }
  // Labels may hold their answers.
  const { table } = await readAnswers(options.answers ?? [options.labels], options, context);
  const labels = await readLabels(options.labels, context);
  const found = joinNewLabels(table, { ...options, labels, artifacts: [artifact] });
  const columns = found.join.columns.filter(({ column }) =>
    artifact.thresholds.some(({ question }) => question === column.question),
  );
  for (const column of columns) refuseOthers(artifact, column);
  const tested = columns.map((column) => toLabelledRows(column).tested);
  const state = options.state === undefined ? null : resolve(context.cwd, options.state);
  const checks = await testThresholds(artifact, tested, state);
  const notes = [...found.notes, ...describeChecks(artifact, state !== null)];
  const lines = checks.map(describeCheck);
  if (options.json === true) {
    context.stdout.write(`${JSON.stringify({ notes, checks }, null, 2)}\n`);
  } else context.stdout.write([...notes, paintVerdicts(lines.join("\n"), context), ""].join("\n"));
  context.exitCode = exitCodeOf(checks);
}

/** @param state - The file of alarms that the rows are added to; null for one test. */
async function testThresholds(
  artifact: CalibrationArtifact,
  tested: readonly LabelledRows["tested"][],
  state: string | null,
): Promise<readonly TestedThreshold[]> {
  if (state !== null) {
    const { addSpotChecks } = await import("./spot-checks.ts");
    return await addSpotChecks(state, artifact, tested);
  }
  return artifact.thresholds.flatMap((locked) => {
    const rows = tested.filter(({ question }) => question === locked.question);
    // Without a label of the question, no row is at the threshold.
    if (rows.length === 0) return [checkThreshold(locked, { p: [], cameTrue: [] })];
    return rows.map((some) => checkThreshold(locked, some));
  });
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

function* describeChecks({ questionHash, thresholds }: CalibrationArtifact, isRunning: boolean) {
  if (questionHash === null)
    yield "Neither the calibration nor the answers name their questions; make sure they are the same.";
  const doubt = percent(1 - (thresholds[0]?.confidence ?? 0));
  yield isRunning
    ? `The chance of a false alarm is at most ${doubt} in all runs together. A rise that stays below the promised risk raises no alarm.`
    : "A check that is repeated is one of several: each more raises the chance of a false alarm. With --state it stays the same.";
}

/** Returns the exit code of promises that were tested again. */
export function exitCodeOf(checks: readonly Pick<TestedThreshold, "verdict">[]): number {
  const verdicts = new Set(checks.map(({ verdict }) => verdict));
  if (verdicts.has("broken") || verdicts.has("alarm")) return exitCodes.failed;
  return verdicts.has("not enough labels") ? exitCodes.notEnoughEvidence : exitCodes.done;
}
