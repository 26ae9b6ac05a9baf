import type { ThresholdCheck } from "evaluator-calibration/statistics";
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
  "The labelled records are no random draw: their printed values differ by more than chance. Draw with pick (of acts: pick --acts) and label every record of the draw.";

/**
 * Returns the columns whose values repeat among labels: those of one value may be right or wrong together. Of 200 random labels of
 * threads of ten, 9 of 100 verdicts are false instead of 5. Of exactly these records a random draw is fair, whatever they share.
 */
export function describeRepeats(columns: readonly JoinedColumn[]): Set<string> {
  const repeats = columns.flatMap(({ join, column, rows }) => {
    const labelledIds = rows.map((rowIndex) => column.ids[rowIndex] as string);
    return [join.repeats, join.table.repeats].flatMap(
      (columnRepeats) => columnRepeats?.among(labelledIds) ?? [],
    );
  });
  return new Set(repeats.map((repeat) => printable`${describeRepeat(repeat, "pick --one-per")}.`));
}

/** Returns why answers may be to other questions than a promise, or null; either may have no hash of its questions. */
export function describeOtherQuestions(answered: string | null, promised: string | null) {
  if (answered === promised) return null;
  if (answered !== null && promised !== null) {
    return "are to other questions than the promised thresholds";
  }
  return `and the calibration may have different questions: only ${promised === null ? "the answers have a question hash" : "the calibration has a question hash; add --questions q.json"}`;
}

/** Returns a threshold and its result on new labels, in one line. */
export function describeCheck(thresholdCheck: TestedThreshold): string {
  const { question, maxRisk, these } = thresholdCheck.locked;
  const promiseText = `${question}: ${nameThreshold(thresholdCheck.locked)}${these ? " of exactly these records" : ""}, at most ${printAtMost(maxRisk)} wrong`;
  const resultText =
    "evidence" in thresholdCheck
      ? `(evidence ${printDown(thresholdCheck.evidence)}; ${thresholdCheck.needed} is an alarm)`
      : describeTestedRisk({ ...thresholdCheck, ...thresholdCheck.locked });
  const wrongText = `${printCount(thresholdCheck.wrong)} of ${printCount(thresholdCheck.n)} wrong ${resultText}`;
  return printable`${thresholdCheck.verdict.padEnd(17)}  ${promiseText}: ${wrongText}`;
}
