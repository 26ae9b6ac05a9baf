import type { Answer } from "evaluator-client";
import type { ResultRecord } from "../output/write-records.ts";

/** A mail and its answers, as conditions read them. */
export interface AnsweredRecord {
  readonly record: ResultRecord;
  /** When it was received, `YYYY-MM-DD`. */
  readonly day: string;
  /** Recalibrated where the record is; null without an answer. */
  readonly answers: Readonly<Record<string, Answer>> | null;
  readonly isNew: boolean;
  /** Whether the service refused it as too long. */
  readonly isRefused?: boolean;
}

/** What a number is compared with. */
export type Comparison = ">=" | "<=" | ">" | "<";

/** One condition; a mail without an answer meets none about answers. */
export type Condition =
  | { readonly kind: "new" }
  | {
      readonly kind: "option";
      readonly questionId: string;
      readonly options: readonly string[];
      readonly isNot: boolean;
    }
  | {
      readonly kind: "number";
      readonly questionId: string;
      /** The field, or the option or level whose share it is. */
      readonly of: { readonly field: string } | { readonly share: string };
      readonly comparison: Comparison;
      readonly value: number;
    };

/** Returns whether a mail meets all conditions. */
export function meetsAll(conditions: readonly Condition[], mail: AnsweredRecord): boolean {
  return conditions.every((condition) => meets(condition, mail));
}

function meets(condition: Condition, mail: AnsweredRecord): boolean {
  const { answers } = mail;
  if (condition.kind === "new") return mail.isNew;
  const answer = answers?.[condition.questionId];
  if (answer === undefined) return false;
  if (condition.kind === "option") {
    const { options, isNot } = condition;
    return answer.type === "choice" && options.includes(answer.choice) !== isNot;
  }
  const { of, comparison, value } = condition;
  const number = "field" in of ? mail.record[of.field] : shareOf(answer, of.share);
  return typeof number === "number" && compare(number, comparison, value);
}

function shareOf(answer: Answer, name: string): number | undefined {
  if (answer.type === "boolean" || !Object.hasOwn(answer.probabilities, name)) return undefined;
  return answer.probabilities[name];
}

/** Returns whether a number compares so with a value. */
export function compare(number: number, comparison: Comparison, value: number): boolean {
  if (comparison === ">=") return number >= value;
  if (comparison === "<=") return number <= value;
  return comparison === ">" ? number > value : number < value;
}
