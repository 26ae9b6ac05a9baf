import type * as z from "zod/mini";

/** One record of a file and the line it begins on. */
export interface InputRecord {
  readonly line: number;
  readonly value: unknown;
}

/** The place of a record. */
export interface SourceLocation {
  readonly file: string;
  readonly line?: number;
}

/** Input that cannot be read; the message names the file, the line, the problem and the next step. */
export class CalibrationInputError extends Error {
  constructor({ file, line }: SourceLocation, problem: string) {
    super(`${file}${line === undefined ? "" : ` line ${line}`}: ${problem}`);
    this.name = "CalibrationInputError";
  }
}

/** Returns a value as a message quotes it: short, on one line, without control characters. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "");
  return plain.length > 60 ? `${plain.slice(0, 60)}…` : plain;
}

/** Returns a list of names as a message gives it, the first few of many. */
export function listNames(names: readonly string[]): string {
  const nameList = names.slice(0, 12).map(quote).join(", ");
  return names.length > 12 ? `${nameList} and ${names.length - 12} more` : nameList;
}

/** The fields of a JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns whether a value is an object with fields. */
export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Throws a `CalibrationInputError` about the value of a field. */
export function rejectField(
  location: SourceLocation,
  [name, value]: readonly [name: string, value: unknown],
  wantedForm = "a text",
): never {
  const isComma = typeof value === "string" && /^\s*-?\d+,\d+\s*$/.test(value);
  const nextStep = isComma ? `: write ${value.trim().replace(",", ".")}` : "";
  const problem = `${name} is ${quote(value)}; it must be ${wantedForm}${nextStep}`;
  throw new CalibrationInputError(location, problem);
}

/** Returns an object; `what` is the subject of the message. @throws CalibrationInputError for another value */
export function toObject(value: unknown, location: SourceLocation, what = "the record"): Fields {
  if (isObject(value)) return value;
  throw new CalibrationInputError(location, `${what} is no JSON object`);
}

/** Returns the id of a record. @throws CalibrationInputError if it has none. */
export function idOf(record: Fields, location: SourceLocation): string {
  const { id } = record;
  if (typeof id === "string" && id !== "") return id;
  // Beyond these, two different numbers can be one.
  if (typeof id === "number" && Math.abs(id) <= Number.MAX_SAFE_INTEGER) return String(id);
  const missing = `has no id among ${listNames(Object.keys(record))}`;
  const problem = id === undefined ? missing : `id is ${quote(id)}`;
  throw new CalibrationInputError(location, `${problem}; each record needs its own id`);
}

/** Parses JSON and checks it by a schema. @throws Error that names the problem. */
export function parseJsonAs<TSchema extends z.ZodMiniType>(
  schema: TSchema,
  text: string,
  { what, latest }: { readonly what: string; readonly latest: number },
): z.infer<TSchema> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error("is not JSON", { cause: error });
  }
  const version = isObject(value) ? value["version"] : null;
  if (typeof version === "number" && version > latest) {
    throw new Error(`is of version ${version}, and this release reads versions 1 to ${latest}`);
  }
  // A check's own message stays; the others would be in the validator's words.
  const { data, error } = schema.safeParse(value, { error: () => "is missing or wrong" });
  if (error === undefined) return data;
  const [issue] = error.issues;
  throw new Error(`is not ${what}: ${issue?.path.join(".") || "it"} ${issue?.message}`);
}

const WORDS = new Map<unknown, number>([
  ...[true, 1, "1", "true", "yes"].map((word) => [word, 1] as const),
  ...[false, 0, "0", "false", "no"].map((word) => [word, 0] as const),
]);

/** Returns 1 for a word of yes, 0 for one of no, and −1 for any other value. */
export function yesOrNo(value: unknown): number {
  return WORDS.get(typeof value === "string" ? truthText(value).toLowerCase() : value) ?? -1;
}

/** Returns a truth as text. Data frames write the whole numbers of a column with gaps as 1.0. */
export function truthText(value: unknown): string {
  return String(value)
    .trim()
    .replace(/^(\d+)\.0+$/, "$1");
}

/** Returns the answers of each model; of a record whose steps are something else, its own. */
export function listSteps(
  value: Fields,
  answers: Fields,
): readonly { given: Fields; one: Fields }[] {
  const { steps } = value;
  const items = Array.isArray(steps) ? steps : [];
  const stepAnswers = items.flatMap((one: unknown) =>
    isObject(one) && isObject(one["answers"]) ? [{ given: one["answers"], one }] : [],
  );
  const isWhole = stepAnswers.length > 0 && stepAnswers.length === items.length;
  return isWhole ? stepAnswers : [{ given: answers, one: value }];
}
