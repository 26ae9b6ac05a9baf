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
  checkDay: Date,
): LabelSheet[] {
  const week = Math.floor(checkDay.getTime() / WEEK_MS);
  const labelSheets = drawSheets(answers, { count: CHECKS_A_WEEK + spotChecks.length, seed: week });
  return labelSheets.map((labelSheet) => {
    const ownChecks = spotChecks.filter(({ question }) => question === labelSheet.id);
    const checkedIds = new Set(ownChecks.map(({ id }) => id));
    const otherRecords = labelSheet.records.filter(({ id }) => !checkedIds.has(id));
    const shownEntries = [
      ...ownChecks.filter((spotCheck) => spotCheck.week === week),
      ...otherRecords,
    ].slice(0, CHECKS_A_WEEK);
    const records = shownEntries.map(({ id }) => ({ id, origin: "spot-check", week }) as const);
    return Object.assign(labelSheet, { records });
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
  const labelJoin = new LabelJoin(table, { last: true, allowUnknown: true });
  for (const [checkIndex, value] of spotChecks.entries()) {
    if (!isFitted(value.id)) labelJoin.add({ line: checkIndex + 1, value }, path);
  }
  const thresholdTests = calibration.thresholds.map((lockedThreshold) => {
    const joinedColumn = labelJoin.columns.find(
      ({ column }) => column === table.largest(lockedThreshold.question),
    );
    if (joinedColumn === undefined)
      return { locked: lockedThreshold, rows: { p: [], cameTrue: [] }, all: null };
    return toThresholdTest(lockedThreshold, joinedColumn, isFitted);
  });
  return checkThresholds(thresholdTests).map((testedCheck) => {
    const { question, action } = testedCheck.locked;
    const verdictText = testedCheck.verdict === "holds" ? "kept" : testedCheck.verdict;
    const wrongText = `${printCount(testedCheck.wrong)} wrong of ${printCount(testedCheck.n)}`;
    return printable`Audit: ${question} ${action}: ${verdictText}, ${wrongText} ${describeTestedRisk({ ...testedCheck, ...testedCheck.locked })}`;
  });
}
