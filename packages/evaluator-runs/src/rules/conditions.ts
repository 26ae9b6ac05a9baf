import {
  applyRecalibration,
  type CalibrationArtifact,
  type LockedThreshold,
  type Recalibration,
  recalibrationOf,
} from "evaluator-calibration";
import type { Answer } from "evaluator-client";
import { toPrintable } from "evaluator-kit";
import { printCount } from "../amounts.ts";
import { type AnswerColumn, type AskedQuestion, shortValue } from "../columns/columns.ts";
import type { ResultRecord } from "../output/write-records.ts";

/** A record and its answers, as conditions read them. */
export interface AnsweredRecord {
  readonly record: ResultRecord;
  /** Its day, `YYYY-MM-DD`. */
  readonly day: string;
  /** Recalibrated if the record is; null without an answer. */
  readonly answers: Readonly<Record<string, Answer>> | null;
  readonly isNew: boolean;
  /** Whether the service refused it as too long. */
  readonly isRefused?: boolean;
}

/** The comparisons of a number. */
export const comparisons = {
  ">=": (number: number, value: number) => number >= value,
  "<=": (number: number, value: number) => number <= value,
  ">": (number: number, value: number) => number > value,
  "<": (number: number, value: number) => number < value,
};

/** One condition; a record without an answer meets none about answers. */
export type Condition =
  | { readonly kind: "new" }
  | {
      readonly kind: "option";
      readonly column: AnswerColumn;
      readonly options: readonly string[];
      readonly isNot: boolean;
    }
  | {
      readonly kind: "number";
      readonly column: AnswerColumn;
      /** The option or level of the probability; null for the column itself. */
      readonly share: string | null;
      readonly comparison: keyof typeof comparisons;
      readonly value: number;
    };

/** Returns whether a record meets all conditions. */
export function meetsAll(conditions: readonly Condition[], record: AnsweredRecord): boolean {
  return conditions.every((condition) => meets(condition, record));
}

function meets(condition: Condition, record: AnsweredRecord): boolean {
  const { answers } = record;
  if (condition.kind === "new") return record.isNew;
  const { asked, name } = condition.column;
  const answer = answers?.[asked.id];
  if (answer === undefined) return false;
  if (condition.kind === "option") {
    const { options, isNot } = condition;
    return options.includes(String(shortValue(asked, answer))) !== isNot;
  }
  const { share, comparison, value } = condition;
  const number = share === null ? record.record[name] : shareOf(asked, answer, share);
  return typeof number === "number" && comparisons[comparison](number, value);
}

function shareOf({ distribution }: AskedQuestion, answer: Answer, name: string) {
  const shares = distribution?.of(answer) ?? {};
  return Object.hasOwn(shares, name) ? shares[name] : undefined;
}

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
  const isOfYes = condition.kind === "number" && condition.share === null;
  if (!isOfYes || condition.column.asked.short.form !== "probability") {
    return no("a calibration promises thresholds of yes or no");
  }
  const { id } = condition.column.asked;
  const isPrinted = condition.column.part === "printed";
  const recalibration = isPrinted ? null : recalibrationOf(calibration, id);
  const decimals = Math.min(calibration.rounding.probabilityDecimals, 4);
  const printed = outermost(condition, recalibration, decimals);
  if (printed === null) return no("its recalibration does not rise with what came");
  const isYes = condition.comparison.startsWith(">");
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
  { comparison, value }: Extract<Condition, { kind: "number" }>,
  recalibration: Recalibration | null,
  decimals: number,
): number | null {
  const units = 10 ** decimals;
  const printed = Array.from({ length: units + 1 }, (_, at) => at / units);
  const seen = recalibration === null ? printed : applyRecalibration(printed, recalibration);
  const rises = seen.every((p, at) => at === 0 || p >= (seen[at - 1] ?? 0));
  if (!rises) return null;
  const through = printed.filter((_, at) => comparisons[comparison](seen[at] ?? Number.NaN, value));
  return comparison.startsWith(">") ? (through[0] ?? 1) : (through.at(-1) ?? 0);
}
