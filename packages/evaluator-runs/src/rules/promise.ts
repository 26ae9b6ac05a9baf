import {
  type CalibrationArtifact,
  type LockedThreshold,
  type Recalibration,
} from "evaluator-calibration";
import { applyRecalibration, recalibrationOf } from "evaluator-calibration/statistics";
import { toPrintable } from "evaluator-kit";
import { printCount } from "../amounts.ts";
import type { Condition } from "./conditions.ts";

/**
 * Returns whether a calibration promises the threshold of a rule, and at which risk, in words.
 *
 * @param takenBefore - The records that meet its conditions and that earlier rules take.
 */
export function promiseOf(
  { conditions }: { readonly conditions: readonly Condition[] },
  calibration: CalibrationArtifact | null,
  takenBefore: number,
) {
  if (calibration === null) return no("nobody has checked (--calibration)");
  const [condition, ...others] = conditions;
  if (condition === undefined || others.length > 0) {
    return no("a calibration promises one threshold alone, and this rule asks for more");
  }
  const { threshold } = condition;
  if (threshold === null || threshold.column.asked.short.form !== "probability") {
    return no("a calibration promises thresholds of yes or no");
  }
  const { isLowest: isYes, column } = threshold;
  const { id } = column.asked;
  const recalibration = column.part === "printed" ? null : recalibrationOf(calibration, id);
  const decimals = Math.min(calibration.rounding.probabilityDecimals, 4);
  const printed = outermost(threshold, recalibration, decimals);
  if (printed === null) return no("its recalibration does not rise with what came");
  const locked = calibration.thresholds.find(
    ({ question, action }) => question === id && action === (isYes ? "yes" : "no"),
  );
  const about = toPrintable(id);
  if (locked === undefined) return no(`its labels promise no threshold of ${about}`);
  const bound = boundOf(locked);
  if ((isYes ? printed : 1 - printed) < locked.threshold - EPSILON) {
    const from = isYes ? locked.threshold : 1 - locked.threshold;
    return no(`promised is ${about} ${isYes ? ">=" : "<="} ${from.toFixed(2)}: ${bound}`);
  }
  const together =
    takenBefore === 0
      ? ""
      : `, counted with the ${printCount(takenBefore)} that earlier rules take`;
  return { isPromised: true, text: `promised: ${bound}${together}` };
}

// As floating-point numbers, 1 - 0.7 is more than 0.3.
const EPSILON = 1e-9;

function no(text: string) {
  return { isPromised: false, text: `not promised: ${text}` };
}

function boundOf({ maxRisk, confidence, n, wrong }: LockedThreshold): string {
  return `at most ${percent(maxRisk)} wrong, with ${percent(confidence)} confidence (${printCount(wrong)} of ${printCount(n)} labels)`;
}

function percent(share: number): string {
  return `${Number((100 * share).toFixed(1))} %`;
}

/**
 * Returns the outermost printed value that meets a condition, or the strictest value if none does; null
 * if recalibrated values do not rise with the printed ones.
 */
function outermost(
  { isLowest, isMetBy }: NonNullable<Condition["threshold"]>,
  recalibration: Recalibration | null,
  decimals: number,
): number | null {
  const units = 10 ** decimals;
  const printed = Array.from({ length: units + 1 }, (_, at) => at / units);
  const seen = recalibration === null ? printed : applyRecalibration(printed, recalibration);
  const rises = seen.every((p, at) => at === 0 || p >= (seen[at - 1] ?? 0));
  if (!rises) return null;
  const through = printed.filter((_, at) => isMetBy(seen[at] ?? Number.NaN));
  return isLowest ? (through[0] ?? 1) : (through.at(-1) ?? 0);
}
