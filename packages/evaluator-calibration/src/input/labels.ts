import type { AnswerColumn } from "./answer-table.ts";
import { CalibrationInputError, listNames, type SourceLocation, quote } from "./input-error.ts";
import { idOf, isObject } from "./read-answers.ts";
import type { InputRecord } from "./input-record.ts";

/** What a person (or a model) says is so. */
export interface Label {
  readonly id: string;
  /** Null where the answers know one question only. */
  readonly question: string | null;
  /** Null for a record that was skipped, or not reached. */
  readonly truth: unknown;
  readonly isSkipped: boolean;
  /** Whether a draw put the record into the sheet, whose rows are filled in from the top. */
  readonly isDrawn: boolean;
  readonly weight: number | null;
  readonly group: string | null;
  /** Labels of one cluster, such as a thread, are not independent. */
  readonly cluster: string | null;
  readonly labeler: string | null;
}

/** Which fields of a label name its group and its cluster. */
export interface LabelColumns {
  readonly by: string;
  readonly onePer: string;
}

/** Returns the label of a record. @throws CalibrationInputError that names the field and what would be right. */
export function parseLabel(
  { line, value }: InputRecord,
  { file, by, onePer }: LabelColumns & { readonly file: string },
): Label {
  const location = { file, line };
  if (!isObject(value)) {
    throw new CalibrationInputError(
      location,
      "is no JSON object; a label is { id, question?, truth }",
    );
  }
  const { truth, skipped } = value;
  const id = idOf(value, location);
  const isSkipped = WORDS.get(typeof skipped === "string" ? skipped.toLowerCase() : skipped) === 1;
  if (truth === undefined && !isSkipped && !("truth" in value) && !("drawn" in value)) {
    throw new CalibrationInputError(location, "has no truth; a label is { id, question?, truth }");
  }
  const isEmpty = truth === undefined || truth === null || truth === "";
  if (isSkipped && !isEmpty) {
    const problem = `is skipped, and its truth is ${quote(truth)}`;
    throw new CalibrationInputError(location, `${problem}; leave one of the two empty`);
  }
  const drawn = numberOf(value, "drawn", location);
  return {
    id,
    truth: isEmpty ? null : truth,
    isSkipped,
    isDrawn: drawn !== null,
    question: textOrNull(value, "question", location),
    weight: numberOf(value, "weight", location) ?? (drawn === null ? null : 1 / drawn),
    group: Object.hasOwn(value, by) ? textOrNull(value, by, location) : null,
    cluster: Object.hasOwn(value, onePer) ? textOrNull(value, onePer, location) : null,
    labeler: textOrNull(value, "labeler", location),
  };
}

function textOrNull(
  fields: Readonly<Record<string, unknown>>,
  name: string,
  location: SourceLocation,
): string | null {
  const value = fields[name];
  if (value === undefined || value === null || value === "") return null;
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw new CalibrationInputError(location, `${name} is ${quote(value)}; it must be a text`);
}

function numberOf(
  fields: Readonly<Record<string, unknown>>,
  name: string,
  location: SourceLocation,
): number | null {
  const value = fields[name];
  if (value === undefined || value === null || value === "") return null;
  const number = typeof value === "string" ? Number(value) : value;
  const isRight = typeof number === "number" && number > 0 && number < Infinity;
  if (isRight && (name !== "drawn" || number <= 1)) return number;
  const wanted = name === "drawn" ? "a probability above 0" : "a number above 0";
  throw new CalibrationInputError(location, `${name} is ${quote(value)}; it must be ${wanted}`);
}

const WORDS = new Map<unknown, number>([
  [true, 1],
  [1, 1],
  ["1", 1],
  ["true", 1],
  ["yes", 1],
  [false, 0],
  [0, 0],
  ["0", 0],
  ["false", 0],
  ["no", 0],
]);

/** Returns a truth as a number. @throws CalibrationInputError that says what would be right. */
export function truthOf(truth: unknown, column: AnswerColumn, location: SourceLocation): number {
  const { kind, options } = column;
  const word = typeof truth === "string" && kind === "boolean" ? truth.trim().toLowerCase() : truth;
  const index = kind === "boolean" ? WORDS.get(word) : options.indexOf(String(truth));
  if (index !== undefined && index >= 0) return index;
  const wanted =
    kind === "boolean"
      ? "true or false, 1 or 0, yes or no"
      : kind === "choice"
        ? `one of ${listNames(options)}`
        : `a level from 0 to ${options.length - 1}`;
  const problem = `truth of ${quote(column.question)} is ${quote(truth)}`;
  throw new CalibrationInputError(location, `${problem}; it must be ${wanted}`);
}
