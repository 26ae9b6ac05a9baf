import { hash } from "node:crypto";
import type { CalibrationArtifact } from "evaluator-calibration";
import { checkThresholds } from "evaluator-calibration/statistics";
import { LabelJoin, printedOf, recordsOf, toLabelledRows } from "evaluator-calibration/reports";
import { printable, printRange } from "evaluator-kit";
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
    const checked = new Set(own.map(({ id }) => id));
    const others = sheet.records.filter(({ id }) => !checked.has(id));
    const shown = [...own.filter((label) => label.week === week), ...others].slice(
      0,
      CHECKS_A_WEEK,
    );
    const records = shown.map(({ id }) => ({ id, origin: "spot-check", week }) as const);
    return Object.assign(sheet, { records });
  });
}

/** Returns a line for each promise of a calibration: whether it held on the random checks. */
export function auditLines(
  { table }: LabelledAnswers,
  { path, spotChecks }: LabelFile,
  calibration: CalibrationArtifact | null,
): string[] {
  const checked = new Set(spotChecks.map(({ id }) => id)).size;
  if (checked < LEAST_CHECKS) return [`Spot checks: ${checked} of ${LEAST_CHECKS} for an audit.`];
  const { thresholds = [], fittedOn } = calibration ?? {};
  if (thresholds.length === 0) return ["Spot checks: no promise to audit; calibrate first."];
  // Labels that made a promise cannot test it.
  const made = new Set(fittedOn?.ids);
  const join = new LabelJoin(table, { last: true, allowUnknown: true });
  for (const [index, value] of spotChecks.entries()) {
    if (!made.has(hash("sha256", value.id).slice(0, 8))) join.add({ line: index + 1, value }, path);
  }
  const tests = thresholds.map((locked) => {
    const joined = join.columns.find(({ column }) => column === table.largest(locked.question));
    if (joined === undefined) return { locked, rows: { p: [], cameTrue: [] }, all: null };
    const { testedRows: tested } = toLabelledRows(joined, recordsOf(locked, joined.column));
    return { locked, rows: tested, all: printedOf(tested) };
  });
  return checkThresholds(tests).map(({ locked, n, wrong, low, high, verdict }) => {
    const kept = verdict === "holds" ? "kept" : verdict;
    const seen = `${wrong} wrong of ${n} (${printRange({ low, high })})`;
    return printable`Audit: ${locked.question} ${locked.action}: ${kept}, ${seen}`;
  });
}
