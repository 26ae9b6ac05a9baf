import type { ThresholdCheck } from "evaluator-calibration/statistics";
import { percentRange, printable, printAtLeast, printAtMost, printDown } from "evaluator-kit";
import { printCount } from "evaluator-runs/source";
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
  "The printed values of the labelled records differ from those of all records that were acted on by more than chance, so these labels show no verdict. Draw them with pick --acts, and label every record of the draw.";

/** Returns the one-sided limit of a tested risk that decides its verdict, or without one the 95 % interval. */
export function describeRisk(
  check: Omit<ThresholdCheck, "locked"> & { readonly confidence: number },
): string {
  const { atMost, atLeast, verdict, confidence } = check;
  const limits = {
    holds: `at most ${printAtMost(Math.ceil(1000 * atMost - 1e-6) / 1000)}`,
    broken: `at least ${printAtLeast(Math.floor(1000 * atLeast + 1e-6) / 1000)}`,
    "not enough labels": null,
    "no fair draw": null,
  };
  const limit = limits[verdict];
  const range =
    limit === null ? percentRange(check) : `${limit}, with ${printAtLeast(confidence)} confidence`;
  return `(${range})`;
}

/** Returns a threshold and its result on new labels, in one line. */
export function describeCheck(check: TestedThreshold): string {
  const { question, maxRisk, these } = check.locked;
  const promise = `${question}: ${nameThreshold(check.locked)}${these ? " of exactly these records" : ""}, at most ${printAtMost(maxRisk)} wrong`;
  const result =
    "evidence" in check
      ? `(evidence ${printDown(check.evidence)}; ${check.needed} is an alarm)`
      : describeRisk({ ...check, ...check.locked });
  const seenText = `${printCount(check.wrong)} of ${printCount(check.n)} wrong ${result}`;
  return printable`${check.verdict.padEnd(17)}  ${promise}: ${seenText}`;
}
