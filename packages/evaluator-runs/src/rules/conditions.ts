import type { Decision } from "evaluator-calibration";
import type { Answer } from "evaluator-client";
import { printable } from "evaluator-kit";
import {
  type AnswerColumn,
  answerColumns,
  type AskedQuestion,
  type Column,
  shortValue,
} from "../columns/columns.ts";
import type { ResultRecord } from "../output/write-records.ts";
import { ConditionError, type Token, listTokens } from "./tokens.ts";

/** A record and its answers, as conditions read them. */
export interface AnsweredRecord {
  readonly record: ResultRecord;
  /** Its day, `YYYY-MM-DD`. */
  readonly day: string;
  /** Recalibrated if the record is; null without an answer. */
  readonly answers: Readonly<Record<string, Answer>> | null;
  /** What the calibration promises about its printed answers; empty without a calibration. */
  readonly decisions: Readonly<Record<string, Decision>>;
  readonly isNew: boolean;
  /** Whether the service refused it as too long. */
  readonly isRefused?: boolean;
}

/** One condition; a record without an answer meets none about answers. */
interface Condition {
  readonly meets: (record: AnsweredRecord) => boolean;
  /** The acts on a question's answer that it asks for, as `decide` names them; null for none. */
  readonly wanted: { readonly question: string; readonly acts: readonly string[] } | null;
}

/** The tokens that are left; the last one stays. */
type Tokens = Token[];

function peek(tokens: Tokens): Token {
  return tokens[0] as Token;
}

function next(tokens: Tokens): Token {
  return (tokens.length > 1 ? tokens.shift() : tokens[0]) as Token;
}

/** Skips the next token if it is of a kind, and returns whether it was. */
function accept(tokens: Tokens, kind: Token["kind"]): boolean {
  const isThat = peek(tokens).kind === kind;
  if (isThat) next(tokens);
  return isThat;
}

/**
 * Reads conditions: `scam >= 0.9, category = receipt | newsletter, new`; a record must meet all of them.
 *
 * @throws ConditionError with the position of an unknown answer or value.
 */
export function readConditions(text: string, all: readonly Column[]) {
  const namedAnswerColumns = answerColumns(all);
  const tokens = [...listTokens(text)];
  const conditions = [readCondition(tokens, namedAnswerColumns)];
  while (accept(tokens, "comma")) conditions.push(readCondition(tokens, namedAnswerColumns));
  const last = next(tokens);
  if (last.kind === "arrow") return { conditions, arrow: last };
  if (last.kind === "end") return { conditions, arrow: null };
  const advice = "put commas between conditions, and quotes around names with spaces";
  throw new ConditionError(last.at, printable`"${last.text}" does not fit; ${advice}`);
}

/** The meaning of a name. */
interface Named {
  readonly column: AnswerColumn;
  /** The option or level of the probability; null for the column itself. */
  readonly share: string | null;
  /** Its highest number; null for an option. */
  readonly most: number | null;
}

function readCondition(tokens: Tokens, namedAnswerColumns: readonly AnswerColumn[]): Condition {
  const name = next(tokens);
  if (name.kind !== "word" && name.kind !== "quoted") {
    throw new ConditionError(name.at, "name an answer first, such as scam >= 0.9");
  }
  const operator = peek(tokens);
  const match = findNamed(name.text, namedAnswerColumns);
  if (operator.kind !== "operator") {
    if (match === null && name.text === "new") {
      return { meets: ({ isNew }) => isNew, wanted: null };
    }
    if (match === null) throw noAnswer(name, namedAnswerColumns);
    const example = match.most === null ? "= " + (listKeys(match.column.asked)[0] ?? "") : ">= 0.9";
    throw new ConditionError(operator.at, printable`choose one: ${name.text} ${example}`);
  }
  if (match === null) throw noAnswer(name, namedAnswerColumns);
  next(tokens);
  return match.most === null
    ? readOptions(match.column, { operator, tokens })
    : readNumber(match, match.most, { operator, name: name.text, value: next(tokens) });
}

/** Returns the meaning of `answer` or `answer.option`. */
function findNamed(text: string, namedAnswerColumns: readonly AnswerColumn[]): Named | null {
  const column =
    namedAnswerColumns.find((one) => one.part === "value" && isNamed(one, text)) ??
    namedAnswerColumns.find(({ name }) => name === text);
  if (column !== undefined) {
    const { asked: question, part } = column;
    if (part === "value" && question.short.form === "option") {
      return { column, share: null, most: null };
    }
    const most =
      part !== "confidence" && question.short.form === "number" ? question.short.most : 1;
    return { column, share: null, most };
  }
  for (let dot = text.lastIndexOf("."); dot > 0; dot = text.lastIndexOf(".", dot - 1)) {
    const [name, share] = [text.slice(0, dot), text.slice(dot + 1)];
    const owner = namedAnswerColumns.find((one) => one.part === "value" && isNamed(one, name));
    if (owner && listKeys(owner.asked).includes(share)) return { column: owner, share, most: 1 };
  }
  return null;
}

function isNamed({ name, asked: question }: AnswerColumn, text: string): boolean {
  return name === text || question.id === text;
}

/** Returns the options of a question, or its levels by their index. */
function listKeys({ distribution }: AskedQuestion): readonly string[] {
  return distribution?.keys ?? [];
}

function noAnswer(
  { text: name, at }: Token,
  namedAnswerColumns: readonly AnswerColumn[],
): ConditionError {
  const column = namedAnswerColumns.find((one) => isNamed(one, name.slice(0, name.indexOf("."))));
  const keys = column === undefined ? [] : listKeys(column.asked);
  if (column !== undefined && keys.length > 0) {
    const what = column.asked.distribution?.isOrdered === true ? "level" : "option";
    const wrong = name.slice(name.indexOf(".") + 1);
    const problem = printable`${column.name} has no ${what} "${wrong}"`;
    return new ConditionError(at, printable`${problem}; it has ${keys.join(", ")}`);
  }
  const all = namedAnswerColumns.map((one) => one.name).join(", ");
  const advice = /^\d+$/.test(name)
    ? "write a decimal with a point, as in 0.9"
    : `there are ${all}`;
  return new ConditionError(at, printable`"${name}" is no answer of this run; ${advice}`);
}

function readOptions(
  column: AnswerColumn,
  { operator, tokens }: { operator: Token; tokens: Tokens },
): Condition {
  const { name, asked: question } = column;
  const all = listKeys(question);
  if (operator.text !== "=" && operator.text !== "!=") {
    const advice = `compare it with = or !=, or the share of an option: ${name}.${all[0]} >= 0.9`;
    throw new ConditionError(operator.at, printable`${name} is an option; ${advice}`);
  }
  const readOption = (): string => {
    const { kind, text, at } = next(tokens);
    const isName = kind === "word" || kind === "quoted";
    if (isName && all.includes(text)) return text;
    const what = isName ? `has no option "${text}"` : "needs an option";
    throw new ConditionError(at, printable`${name} ${what}; it has ${all.join(", ")}`);
  };
  const options = [readOption()];
  while (accept(tokens, "bar")) options.push(readOption());
  const isNot = operator.text === "!=";
  const acts = all.filter((option) => options.includes(option) !== isNot);
  const meets = ({ answers }: AnsweredRecord) => {
    const answer = answers?.[question.id];
    return answer !== undefined && acts.includes(String(shortValue(question, answer)));
  };
  return { meets, wanted: { question: question.id, acts } };
}

const comparisons = new Map(
  Object.entries({
    ">=": (number: number, value: number) => number >= value,
    "<=": (number: number, value: number) => number <= value,
    ">": (number: number, value: number) => number > value,
    "<": (number: number, value: number) => number < value,
  }),
);

function readNumber(
  namedParts: Named,
  most: number,
  { operator, name, value }: { operator: Token; name: string; value: Token },
): Condition {
  const { column, share } = namedParts;
  const compare = comparisons.get(operator.text);
  if (compare === undefined) {
    const message = printable`${name} is a number; compare it with >=, >, <= or <`;
    throw new ConditionError(operator.at, message);
  }
  const isNumber =
    value.kind === "word" && /^(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})$/.test(value.text);
  if (!isNumber || Number(value.text) > most) {
    const range = printable`${name} goes from 0 to ${String(most)}`;
    const reportedText =
      value.text === "" ? "a number is missing" : printable`"${value.text}" cannot be`;
    throw new ConditionError(value.at, `${reportedText}; ${range}`);
  }
  const bound = Number(value.text);
  const isMetBy = (number: unknown) => typeof number === "number" && compare(number, bound);
  const { asked: question } = column;
  const meets = ({ answers, record }: AnsweredRecord) => {
    const answer = answers?.[question.id];
    if (answer === undefined) return false;
    return isMetBy(share === null ? record[column.name] : question.distribution?.of(answer)[share]);
  };
  const act = findAct(namedParts, operator.text.startsWith(">"));
  return { meets, wanted: act === null ? null : { question: question.id, acts: [act] } };
}

/** Returns the act that high, or low, numbers ask for; null for a confidence or a mean level. */
function findAct(
  { column: { asked: question, part }, share }: Named,
  isHigh: boolean,
): string | null {
  if (share !== null) return isHigh ? share : null;
  if (part === "confidence" || question.short.form !== "probability") return null;
  return isHigh ? "yes" : "no";
}

/** Returns whether a record meets all conditions. */
export function meetsAll(conditions: readonly Condition[], record: AnsweredRecord): boolean {
  return conditions.every(({ meets }) => meets(record));
}
