import type { Answer } from "evaluator-client";
import { type AnswerColumn, type AskedQuestion, shortValue } from "../columns/columns.ts";
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
      readonly column: AnswerColumn;
      readonly options: readonly string[];
      readonly isNot: boolean;
    }
  | {
      readonly kind: "number";
      readonly column: AnswerColumn;
      /** The option or level whose probability it is; null for the column itself. */
      readonly share: string | null;
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
  const { asked, name } = condition.column;
  const answer = answers?.[asked.id];
  if (answer === undefined) return false;
  if (condition.kind === "option") {
    const { options, isNot } = condition;
    return options.includes(String(shortValue(asked, answer))) !== isNot;
  }
  const { share, comparison, value } = condition;
  const number = share === null ? mail.record[name] : shareOf(asked, answer, share);
  return typeof number === "number" && compare(number, comparison, value);
}

function shareOf({ distribution }: AskedQuestion, answer: Answer, name: string) {
  const shares = distribution?.of(answer) ?? {};
  return Object.hasOwn(shares, name) ? shares[name] : undefined;
}

/** Returns whether a number compares so with a value. */
export function compare(number: number, comparison: Comparison, value: number): boolean {
  if (comparison === ">=") return number >= value;
  if (comparison === "<=") return number <= value;
  return comparison === ">" ? number > value : number < value;
}
