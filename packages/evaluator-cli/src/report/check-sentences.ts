import type { ThresholdCheck } from "evaluator-calibration/statistics";
import type { CalibrationArtifact } from "evaluator-calibration";
import type { JoinedColumn } from "evaluator-calibration/reports";
import { printable, printAtMost, printDown } from "evaluator-kit";
import { describeTestedRisk, printCount } from "evaluator-runs/source";
import { describeRepeat } from "./repeat-sentences.ts";
import { nameThreshold } from "./sentences.ts";

/** A threshold that new labels tested once, or label by label. */
type TestedThreshold =
  | ThresholdCheck
  | (Pick<ThresholdCheck, "locked" | "n" | "wrong"> & {
      readonly verdict: "alarm" | "no alarm" | "no fair draw";
      readonly evidence: number;
      /** The evidence that raises the alarm. */
      readonly needed: number;
    });

/** The reason for no verdict. */
export const NO_FAIR_DRAW =
  "The printed values of the labelled records differ from those of the records that they stand for by more than chance, so these labels show no verdict. Draw them with pick (of acts: pick --acts), and label every record of the draw.";

/**
 * Returns the columns whose values repeat among the labels of a promise about records like some: labels of one value may be right
 * or wrong together. Of 200 random labels of threads of ten, 9 of 100 verdicts are false instead of 5. Of exactly these records a
 * random draw is fair, whatever they share.
 */
export function describeRepeats(
  { thresholds }: Pick<CalibrationArtifact, "thresholds">,
  columns: readonly JoinedColumn[],
): Set<string> {
  const isOfOthers = thresholds.some(({ these }) => these === undefined);
  const repeats = (isOfOthers ? columns : []).flatMap(({ join, column, rows }) => {
    const ids = rows.map((row) => column.ids[row] as string);
    return [join.repeats, join.table.repeats].flatMap((noted) => noted?.among(ids) ?? []);
  });
  return new Set(repeats.map((repeat) => printable`${describeRepeat(repeat, "pick --one-per")}.`));
}

/** Returns a threshold and its result on new labels, in one line. */
export function describeCheck(check: TestedThreshold): string {
  const { question, maxRisk, these } = check.locked;
  const promise = `${question}: ${nameThreshold(check.locked)}${these ? " of exactly these records" : ""}, at most ${printAtMost(maxRisk)} wrong`;
  const result =
    "evidence" in check
      ? `(evidence ${printDown(check.evidence)}; ${check.needed} is an alarm)`
      : describeTestedRisk({ ...check, ...check.locked });
  const wrongText = `${printCount(check.wrong)} of ${printCount(check.n)} wrong ${result}`;
  return printable`${check.verdict.padEnd(17)}  ${promise}: ${wrongText}`;
}
