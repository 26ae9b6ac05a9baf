import type { CalibrationArtifact } from "evaluator-calibration";
import { checkThresholds } from "evaluator-calibration/statistics";
import { LabelJoin, toThresholdTest } from "evaluator-calibration/reports";
import { printable } from "evaluator-kit";
import { describeTestedRisk, printCount } from "../amounts.ts";
import { findFitted } from "../calibration.ts";
import type { LabelFile } from "./label-file.ts";
import { drawSheets, type LabelledAnswers, type LabelSheet } from "./label-sheet.ts";

const CHECKS_A_WEEK = 5;
/** Fewer checks test no promise. */
const LEAST_CHECKS = 40;
const WEEK_MS = 7 * 86_400_000;

/** Returns for each question the random records to label in the week of a day. */
export function drawSpotChecks(
  answers: LabelledAnswers,
  { spotChecks }: LabelFile,
  day: Date,
): LabelSheet[] {
  const week = Math.floor(day.getTime() / WEEK_MS);
  const sheets = drawSheets(answers, { count: CHECKS_A_WEEK + spotChecks.length, seed: week });
  return sheets.map((sheet) => {
    const own = spotChecks.filter(({ question }) => question === sheet.id);
    const checkedIds = new Set(own.map(({ id }) => id));
    const others = sheet.records.filter(({ id }) => !checkedIds.has(id));
    const shownEntries = [...own.filter((label) => label.week === week), ...others].slice(
      0,
      CHECKS_A_WEEK,
    );
    const records = shownEntries.map(({ id }) => ({ id, origin: "spot-check", week }) as const);
    return Object.assign(sheet, { records });
  });
}

/** Returns a line for each promise of a calibration: whether it held on the random checks. */
export function auditLines(
  { table }: LabelledAnswers,
  { path, spotChecks }: LabelFile,
  calibration: CalibrationArtifact | null,
): string[] {
  const checkedCount = new Set(spotChecks.map(({ id }) => id)).size;
  if (checkedCount < LEAST_CHECKS)
    return [`Spot checks: ${checkedCount} of ${LEAST_CHECKS} for an audit.`];
  if (calibration === null || calibration.thresholds.length === 0)
    return ["Spot checks: no promise to audit; calibrate first."];
  // Labels that made a promise cannot test it.
  const isFitted = findFitted([calibration]);
  const join = new LabelJoin(table, { last: true, allowUnknown: true });
  for (const [index, value] of spotChecks.entries()) {
    if (!isFitted(value.id)) join.add({ line: index + 1, value }, path);
  }
  const tests = calibration.thresholds.map((lockedThreshold) => {
    const joinedColumn = join.columns.find(
      ({ column }) => column === table.largest(lockedThreshold.question),
    );
    if (joinedColumn === undefined)
      return { locked: lockedThreshold, rows: { p: [], cameTrue: [] }, all: null };
    return toThresholdTest(lockedThreshold, joinedColumn, isFitted);
  });
  return checkThresholds(tests).map((check) => {
    const { question, action } = check.locked;
    const verdictText = check.verdict === "holds" ? "kept" : check.verdict;
    const wrongText = `${printCount(check.wrong)} wrong of ${printCount(check.n)}`;
    return printable`Audit: ${question} ${action}: ${verdictText}, ${wrongText} ${describeTestedRisk({ ...check, ...check.locked })}`;
  });
}
