import { printable } from "evaluator-kit";
import type { Questions } from "evaluator-client";
import type { AnswerField } from "../columns/answer-fields.ts";
import type { Comparison, Condition } from "./conditions.ts";
import { ConditionError, splitWords, type Token } from "./split-words.ts";

/** The answers of a run, which conditions name. */
export interface NamedAnswers {
  readonly questions: Questions;
  readonly fields: readonly AnswerField[];
}

/**
 * Reads conditions: `scam >= 0.9, category = receipt | newsletter, new`; all of them are to be met.
 *
 * @throws ConditionError that says where it names no answer, or what it cannot be.
 */
export function readConditions(text: string, named: NamedAnswers) {
  const tokens = new Tokens(splitWords(text));
  const conditions = [readCondition(tokens, named)];
  while (tokens.accept("comma")) conditions.push(readCondition(tokens, named));
  const next = tokens.next();
  if (next.kind === "arrow") return { conditions, arrow: next };
  if (next.kind === "end") return { conditions, arrow: null };
  const advice = "put a comma between conditions, and names with spaces into quotes";
  throw new ConditionError(next.at, printable`"${next.text}" is too much; ${advice}`);
}

class Tokens {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** Returns the next token and goes past it; the last one is the end, again and again. */
  next(): Token {
    const token = this.peek();
    this.#at = Math.min(this.#at + 1, this.#tokens.length - 1);
    return token;
  }

  peek(): Token {
    return this.#tokens[this.#at] as Token;
  }

  /** Skips the next token where it is of a kind, and returns whether it is. */
  accept(kind: Token["kind"]): boolean {
    const isThat = this.peek().kind === kind;
    if (isThat) this.next();
    return isThat;
  }
}

/** What a name stands for. */
type Named =
  | { readonly kind: "option"; readonly field: AnswerField }
  | {
      readonly kind: "number";
      readonly field: AnswerField;
      readonly of: { readonly field: string } | { readonly share: string };
      /** The highest it can be. */
      readonly most: number;
    };

function readCondition(tokens: Tokens, named: NamedAnswers): Condition {
  const name = readName(tokens);
  const operator = tokens.peek();
  const found = findNamed(name.parts, named);
  if (operator.kind !== "operator") {
    if (found === null && name.parts.join(".") === "new") return { kind: "new" };
    if (found === null) throw noAnswer(name, named);
    const example = found.kind === "option" ? "= " + (optionsOf(found, named)[0] ?? "") : ">= 0.9";
    const text = name.parts.join(".");
    throw new ConditionError(operator.at, printable`say what it is to be: ${text} ${example}`);
  }
  if (found === null) throw noAnswer(name, named);
  tokens.next();
  return found.kind === "option"
    ? readOptions(found, { operator, tokens, named })
    : readNumber(found, { operator, name: name.parts.join("."), value: tokens.next() });
}

interface Name {
  readonly parts: readonly string[];
  readonly at: number;
}

// A quoted name may have its option after a dot: "my question".yes, "my question"."an option".
function readName(tokens: Tokens): Name {
  const first = tokens.next();
  if (first.kind !== "word" && first.kind !== "quoted") {
    throw new ConditionError(first.at, "name an answer first, such as scam >= 0.9");
  }
  if (first.kind === "word" && !first.text.endsWith(".")) {
    return { parts: [first.text], at: first.at };
  }
  const parts = [first.kind === "word" ? first.text.slice(0, -1) : first.text];
  const dot = tokens.peek();
  if (first.kind === "quoted" && dot.kind === "word" && dot.at === first.end) tokens.next();
  const rest = dot.kind === "word" && dot.at === first.end ? dot.text : ".";
  if (first.kind === "quoted" && !rest.startsWith(".")) return { parts, at: first.at };
  if (rest.length > 1) return { parts: [...parts, rest.slice(1)], at: first.at };
  const option = tokens.peek();
  const isOption = option.kind === "quoted" && option.at <= first.end + 1;
  if (!isOption) return { parts, at: first.at };
  return { parts: [...parts, tokens.next().text], at: first.at };
}

function findNamed(parts: readonly string[], named: NamedAnswers): Named | null {
  const [whole = "", option] = parts;
  if (option !== undefined) return findShare(whole, option, named);
  const { fields } = named;
  const field = fields.find(({ field, questionId }) => field === whole || questionId === whole);
  if (field !== undefined) {
    if (field.type === "choice") return { kind: "option", field };
    return { kind: "number", field, of: { field: field.field }, most: highestOf(field, named) };
  }
  const other = fields.find(
    ({ confidenceField, printedField }) => confidenceField === whole || printedField === whole,
  );
  if (other !== undefined) {
    const most = other.confidenceField === whole ? 1 : highestOf(other, named);
    return { kind: "number", field: other, of: { field: whole }, most };
  }
  for (let dot = whole.lastIndexOf("."); dot > 0; dot = whole.lastIndexOf(".", dot - 1)) {
    const found = findShare(whole.slice(0, dot), whole.slice(dot + 1), named);
    if (found !== null) return found;
  }
  return null;
}

function findShare(name: string, option: string, named: NamedAnswers): Named | null {
  const field = named.fields.find(({ field, questionId }) => [field, questionId].includes(name));
  if (field === undefined || !optionsOf({ field }, named).includes(option)) return null;
  return { kind: "number", field, of: { share: option }, most: 1 };
}

function highestOf({ type, questionId }: AnswerField, { questions }: NamedAnswers): number {
  const criteria = questions[questionId]?.criteria;
  return type === "score" && Array.isArray(criteria) ? criteria.length - 1 : 1;
}

/** Returns the options of a choice, or the levels of a score by their index. */
function optionsOf(
  { field }: { readonly field: AnswerField },
  { questions }: NamedAnswers,
): string[] {
  return Object.keys(questions[field.questionId]?.criteria ?? {});
}

function noAnswer({ parts, at }: Name, named: NamedAnswers): ConditionError {
  const name = parts.join(".");
  const asked = named.fields.find(
    ({ field, questionId }) => name.startsWith(`${field}.`) || name.startsWith(`${questionId}.`),
  );
  if (asked !== undefined && asked.type !== "boolean") {
    const what = asked.type === "choice" ? "option" : "level";
    const all = optionsOf({ field: asked }, named).join(", ");
    const wrong = name.slice(name.indexOf(".") + 1);
    const problem = printable`${asked.field} has no ${what} "${wrong}"`;
    return new ConditionError(at, printable`${problem}; it has ${all}`);
  }
  const all = named.fields.flatMap(({ field, confidenceField, printedField }) =>
    [field, confidenceField, printedField].filter((name) => name !== null),
  );
  return new ConditionError(
    at,
    printable`"${name}" is no answer of this run; there are ${all.join(", ")}`,
  );
}

function readOptions(
  { field }: Extract<Named, { kind: "option" }>,
  { operator, tokens, named }: { operator: Token; tokens: Tokens; named: NamedAnswers },
): Condition {
  const all = optionsOf({ field }, named);
  if (operator.text !== "=" && operator.text !== "!=") {
    const advice = `compare it with = or !=, or the share of an option: ${field.field}.${all[0]} >= 0.9`;
    throw new ConditionError(operator.at, printable`${field.field} is an option; ${advice}`);
  }
  const readOption = (): string => {
    const { kind, text, at } = tokens.next();
    const isName = kind === "word" || kind === "quoted";
    if (isName && all.includes(text)) return text;
    const what = isName ? `has no option "${text}"` : "needs an option";
    throw new ConditionError(at, printable`${field.field} ${what}; it has ${all.join(", ")}`);
  };
  const options = [readOption()];
  while (tokens.accept("bar")) options.push(readOption());
  const { questionId } = field;
  return { kind: "option", questionId, options, isNot: operator.text === "!=" };
}

const comparisons = new Set([">=", "<=", ">", "<"]);

function readNumber(
  { field, of, most }: Extract<Named, { kind: "number" }>,
  { operator, name, value }: { operator: Token; name: string; value: Token },
): Condition {
  if (!comparisons.has(operator.text)) {
    throw new ConditionError(
      operator.at,
      printable`${name} is a number; compare it with >=, >, <= or <`,
    );
  }
  const isNumber =
    value.kind === "word" && /^(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})$/.test(value.text);
  if (!isNumber || Number(value.text) > most) {
    const range = printable`${name} goes from 0 to ${String(most)}`;
    const said = value.text === "" ? "a number is missing" : printable`"${value.text}" cannot be`;
    throw new ConditionError(value.at, `${said}; ${range}`);
  }
  return {
    kind: "number",
    questionId: field.questionId,
    of,
    comparison: operator.text as Comparison,
    value: Number(value.text),
  };
}
