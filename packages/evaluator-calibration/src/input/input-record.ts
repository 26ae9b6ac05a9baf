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
export function quote(quotedValue: unknown): string {
  const jsonText = JSON.stringify(quotedValue) ?? String(quotedValue);
  const plainText = jsonText.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "");
  return plainText.length > 60 ? `${plainText.slice(0, 60)}…` : plainText;
}

/** Returns a list of names as a message gives it, the first few of many. */
export function listNames(quotedNames: readonly string[]): string {
  const nameList = quotedNames.slice(0, 12).map(quote).join(", ");
  return quotedNames.length > 12 ? `${nameList} and ${quotedNames.length - 12} more` : nameList;
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
  [fieldName, fieldValue]: readonly [name: string, value: unknown],
  wantedForm = "a text",
): never {
  const isComma = typeof fieldValue === "string" && /^\s*-?\d+,\d+\s*$/.test(fieldValue);
  const nextStep = isComma ? `: write ${fieldValue.trim().replace(",", ".")}` : "";
  const problem = `${fieldName} is ${quote(fieldValue)}; it must be ${wantedForm}${nextStep}`;
  throw new CalibrationInputError(location, problem);
}

/** Returns an object; `what` is the subject of the message. @throws CalibrationInputError for another value */
export function toObject(
  recordValue: unknown,
  location: SourceLocation,
  recordName = "the record",
): Fields {
  if (isObject(recordValue)) return recordValue;
  throw new CalibrationInputError(location, `${recordName} is no JSON object`);
}

/** Returns the id of a record. @throws CalibrationInputError if it has none. */
export function idOf(recordFields: Fields, location: SourceLocation): string {
  const { id } = recordFields;
  if (typeof id === "string" && id !== "") return id;
  // Beyond these, two different numbers can be one.
  if (typeof id === "number" && Math.abs(id) <= Number.MAX_SAFE_INTEGER) return String(id);
  const missing = `has no id among ${listNames(Object.keys(recordFields))}`;
  const problem = id === undefined ? missing : `id is ${quote(id)}`;
  throw new CalibrationInputError(location, `${problem}; each record needs its own id`);
}

/** Parses JSON and checks it by a schema. @throws Error that names the problem. */
export function parseJsonAs<TSchema extends z.ZodMiniType>(
  fileSchema: TSchema,
  fileText: string,
  { what, latest }: { readonly what: string; readonly latest: number },
): z.infer<TSchema> {
  let parsedValue: unknown;
  try {
    parsedValue = JSON.parse(fileText);
  } catch (error) {
    throw new Error("is not JSON", { cause: error });
  }
  const version = isObject(parsedValue) ? parsedValue["version"] : null;
  if (typeof version === "number" && version > latest) {
    throw new Error(`is of version ${version}, and this release reads versions 1 to ${latest}`);
  }
  // A check's own message stays; the others would be in the validator's words.
  const { data, error } = fileSchema.safeParse(parsedValue, { error: () => "is missing or wrong" });
  if (error === undefined) return data;
  const [firstIssue] = error.issues;
  throw new Error(`is not ${what}: ${firstIssue?.path.join(".") || "it"} ${firstIssue?.message}`);
}

const WORDS = new Map<unknown, number>([
  ...[true, 1, "1", "true", "yes"].map((yesWord) => [yesWord, 1] as const),
  ...[false, 0, "0", "false", "no"].map((noWord) => [noWord, 0] as const),
]);

/** Returns 1 for a word of yes, 0 for one of no, and −1 for any other value. */
export function yesOrNo(truthValue: unknown): number {
  return (
    WORDS.get(typeof truthValue === "string" ? truthText(truthValue).toLowerCase() : truthValue) ??
    -1
  );
}

/** Returns a truth as text. Data frames write the whole numbers of a column with gaps as 1.0. */
export function truthText(truthValue: unknown): string {
  return String(truthValue)
    .trim()
    .replace(/^(\d+)\.0+$/, "$1");
}

/** Returns the answers of each model; of a record whose steps are something else, its own. */
export function listSteps(
  recordFields: Fields,
  answers: Fields,
): readonly { stepAnswers: Fields; stepFields: Fields }[] {
  const { steps } = recordFields;
  const stepItems = Array.isArray(steps) ? steps : [];
  const stepAnswers = stepItems.flatMap((stepItem: unknown) =>
    isObject(stepItem) && isObject(stepItem["answers"])
      ? [{ stepAnswers: stepItem["answers"], stepFields: stepItem }]
      : [],
  );
  const isWhole = stepAnswers.length > 0 && stepAnswers.length === stepItems.length;
  return isWhole ? stepAnswers : [{ stepAnswers: answers, stepFields: recordFields }];
}
