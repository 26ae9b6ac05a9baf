import type { ThresholdCheck } from "evaluator-calibration/statistics";
import { printable, printAtMost, printDown } from "evaluator-kit";
import { describeTestedRisk, printCount } from "evaluator-runs/source";
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
