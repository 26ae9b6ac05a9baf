import { InvalidArgumentError, printable } from "evaluator-kit";
import type { JsonObject, JsonValue, Questions } from "evaluator-client";

/** A key of the state, and the column of its value. */
type StateColumn = readonly [key: string, column: string];

/** Which columns of a record are its id and its state. */
export type RecordColumns = {
  readonly id: string;
  /** Null for all columns except the id. */
  readonly columns: readonly StateColumn[] | null;
};

/** Adds the columns of `subject,text=body` to those typed before. */
export function stateColumns(
  text: string,
  previous: readonly StateColumn[] = [],
): readonly StateColumn[] {
  const typed = text.split(",").map((part): StateColumn => {
    const [key = "", column = key] = part.split(/=(.*)/s, 2).map((side) => side.trim());
    return [key, column];
  });
  const all = [...previous, ...typed];
  const keys = new Set(all.map(([key]) => key));
  if (keys.size === all.length && !all.flat().includes("")) return all;
  throw new InvalidArgumentError("Use columns, each once, such as subject,body or text=body.");
}

/** Returns typed or kept options with their defaults. */
export function toRecordColumns(options: Readonly<Record<string, unknown>>): RecordColumns {
  const { id = "id", columns = null } = options as Partial<RecordColumns>;
  return { id, columns };
}

/** Returns the state of a record: the values that it has; null if all of them are blank. */
export function stateOf(record: JsonObject, { id, columns }: RecordColumns): JsonObject | null {
  const wanted =
    columns ?? Object.keys(record).flatMap((key) => (key === id ? [] : [[key, key] as const]));
  const values = wanted.flatMap(([key, column]): [string, JsonValue][] => {
    const value = Object.hasOwn(record, column) ? record[column] : undefined;
    return value === undefined ? [] : [[key, value]];
  });
  return values.every(([, value]) => isBlank(value)) ? null : Object.fromEntries(values);
}

function isBlank(value: JsonValue): boolean {
  return typeof value === "string" ? value.trim() === "" : value === null;
}

/** Returns the problem of a state that no one chose if a column may hold an answer; null if none may. */
export function answerInState(names: ReadonlySet<string>, questions: Questions): string | null {
  const answers = new Set([...Object.keys(questions), "truth", "label"].map(normalise));
  const isAnswer = (name: string) => answers.has(normalise(name));
  const found = [...names].find(isAnswer);
  if (found === undefined) return null;
  const others = [...names].filter((name) => !isAnswer(name) && !/[,=]/.test(name));
  const example = others.slice(0, 3).join(",") || "COLUMN";
  return printable`it has the column "${found}", so the answer would be in the state; choose the columns of the state, such as --state ${example}`;
}

function normalise(name: string): string {
  return name.trim().toLowerCase();
}
