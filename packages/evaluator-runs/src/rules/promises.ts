import {
  applyRecalibration,
  type CalibrationArtifact,
  type LockedThreshold,
  type Recalibration,
  recalibrationOf,
} from "evaluator-calibration";
import { toPrintable } from "evaluator-kit";
import { printCount } from "../amounts.ts";
import { compare, type Condition } from "./conditions.ts";
import type { Rule } from "./rules-file.ts";

/** Whether a calibration promised what a rule does. */
export interface RulePromise {
  readonly isPromised: boolean;
  /** In words. */
  readonly text: string;
}

/** What a promise is looked up in. */
export interface PromiseOptions {
  readonly calibration: CalibrationArtifact | null;
  /** How many of the mails that meet its conditions earlier rules take. */
  readonly takenBefore: number;
}

/** Returns whether a calibration promised the threshold of a rule, and at which risk. */
export function promiseOf({ conditions }: Rule, options: PromiseOptions): RulePromise {
  const { calibration, takenBefore } = options;
  if (calibration === null) return no("nobody has checked (--calibration)");
  const [condition, ...others] = conditions;
  if (condition === undefined || others.length > 0) {
    return no("a calibration promises one threshold alone, and this rule asks for more");
  }
  const act = actOf(condition, calibration);
  if (typeof act === "string") return no(act);
  const { questionId, action, threshold } = act;
  const locked = calibration.thresholds.find(
    (locked) => locked.question === questionId && locked.action === action,
  );
  const about = toPrintable(questionId);
  if (locked === undefined) return no(`its labels promise no threshold of ${about}`);
  const bound = boundOf(locked);
  if (threshold < locked.threshold - EPSILON) {
    const sign = action === "yes" ? ">=" : "<=";
    const from = action === "yes" ? locked.threshold : 1 - locked.threshold;
    return no(`promised is ${about} ${sign} ${from.toFixed(2)}: ${bound}`);
  }
  const together =
    takenBefore === 0
      ? ""
      : `, counted with the ${printCount(takenBefore)} that earlier rules take`;
  return { isPromised: true, text: `promised: ${bound}${together}` };
}

// 1 - 0.7 is a little more than 0.3 for a computer, and not for a person.
const EPSILON = 1e-9;

function no(text: string): RulePromise {
  return { isPromised: false, text: `not promised: ${text}` };
}

function boundOf({ maxRisk, confidence, n, wrong }: LockedThreshold): string {
  return `at most ${percent(maxRisk)} wrong, with ${percent(confidence)} confidence (${printCount(wrong)} of ${printCount(n)} labels)`;
}

function percent(share: number): string {
  return `${Number((100 * share).toFixed(1))} %`;
}

/** What a rule does without asking: act on yes or on no, from some printed value on. */
interface Act {
  readonly questionId: string;
  readonly action: LockedThreshold["action"];
  readonly threshold: number;
}

// A string says why there can be no promise.
function actOf(condition: Condition, calibration: CalibrationArtifact): Act | string {
  const noProbability = "a calibration promises thresholds of yes or no";
  if (condition.kind !== "number" || condition.share !== null) return noProbability;
  const { column, comparison } = condition;
  const { asked } = column;
  if (asked.short.form !== "probability") return noProbability;
  const questionId = asked.id;
  const action = comparison.startsWith(">") ? "yes" : "no";
  const recalibration = column.part === "printed" ? null : recalibrationOf(calibration, questionId);
  const decimals = Math.min(calibration.rounding.probabilityDecimals, 4);
  const printed = outermost(condition, { recalibration, decimals });
  if (printed === null) return "its recalibration does not rise with what came";
  return { questionId, action, threshold: action === "yes" ? printed : 1 - printed };
}

/**
 * Returns the outermost printed value that a condition lets through, and the strictest there is where
 * it lets none through; null where recalibrated values do not rise with the printed ones.
 */
function outermost(
  { comparison, value }: Pick<Extract<Condition, { kind: "number" }>, "comparison" | "value">,
  {
    recalibration,
    decimals,
  }: { readonly recalibration: Recalibration | null; readonly decimals: number },
): number | null {
  const units = 10 ** decimals;
  const printed = Array.from({ length: units + 1 }, (_, at) => at / units);
  const seen = recalibration === null ? printed : applyRecalibration(printed, recalibration);
  const rises = seen.every((p, at) => at === 0 || p >= (seen[at - 1] ?? 0));
  if (!rises) return null;
  const through = printed.filter((_, at) => compare(seen[at] ?? Number.NaN, comparison, value));
  return comparison.startsWith(">") ? (through[0] ?? 1) : (through.at(-1) ?? 0);
}
