import {
  CalibrationInputError,
  type Fields,
  idOf,
  type InputRecord,
  isObject,
  quote,
  type SourceLocation,
  yesOrNo,
} from "./input-record.ts";

/**
 * Returns the label of a record; `by` and `onePer` are the fields of its group and its cluster. Null for a
 * line of a router's decision log without a label.
 *
 * @throws CalibrationInputError that names the invalid field.
 */
export function parseLabel(
  { line, value: givenValue }: InputRecord,
  { file, by, onePer }: { readonly file: string; readonly by: string; readonly onePer: string },
) {
  const location = { file, line };
  const wantedText = "a label is { id, question?, truth }";
  if (!isObject(givenValue)) {
    throw new CalibrationInputError(location, `is no JSON object; ${wantedText}`);
  }
  if ("requestId" in givenValue && !("feedback" in givenValue || "truth" in givenValue))
    return null;
  const value = "feedback" in givenValue ? toLabel(givenValue) : givenValue;
  const { truth, skipped: skippedValue } = value;
  const id = idOf(value, location);
  const isSkipped = yesOrNo(skippedValue) === 1;
  if (truth === undefined && !isSkipped && !("truth" in value) && !("drawn" in value)) {
    throw new CalibrationInputError(location, `has no truth; ${wantedText}`);
  }
  const isEmpty = isBlank(truth);
  if (isSkipped && !isEmpty) {
    const problem = `is skipped, and its truth is ${quote(truth)}`;
    throw new CalibrationInputError(location, `${problem}; leave one of the two empty`);
  }
  const drawnCount = findNumber(value, "drawn", location);
  const plan = findPlan(value["draw"], location);
  return {
    location,
    id,
    /** Null for a record that was skipped, or not reached. */
    truth: isEmpty ? null : truth,
    isSkipped,
    /** Whether a draw put the record into the sheet, whose rows are filled in from the top. */
    isDrawn: drawnCount !== null || plan !== null,
    /** The plan of a promise that the record was drawn for, or null. */
    plan,
    /** Null if the answers know one question only. */
    question: toText(value, "question", location),
    /** Whether it corrects an answer that a person found wrong; the right ones are silent. */
    isOverride: value["origin"] === "override",
    weight: findNumber(value, "weight", location) ?? (drawnCount === null ? null : 1 / drawnCount),
    group: Object.hasOwn(value, by) ? toText(value, by, location) : null,
    /** Labels of one cluster, such as a thread, are not independent. */
    cluster: Object.hasOwn(value, onePer) ? toText(value, onePer, location) : null,
    labeler: toText(value, "labeler", location),
  };
}

/** Feedback in a router's decision log is a label of the tier question. */
function toLabel({ requestId, feedback, ...fields }: Fields): Fields {
  if (requestId === undefined) return { feedback, ...fields };
  return { id: requestId, question: "tier", truth: feedback, labeler: "feedback" };
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function toText(fields: Fields, name: string, location: SourceLocation): string | null {
  const value = fields[name];
  if (isBlank(value)) return null;
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw new CalibrationInputError(location, `${name} is ${quote(value)}; it must be a text`);
}

function findPlan(draw: unknown, location: SourceLocation): string | null {
  if (isBlank(draw)) return null;
  if (isObject(draw) && typeof draw["plan"] === "string") return draw["plan"];
  const wantedText = "{ plan, from, at }, as label and pick write it";
  throw new CalibrationInputError(location, `draw is ${quote(draw)}; it must be ${wantedText}`);
}

function findNumber(
  fields: Fields,
  name: "weight" | "drawn",
  location: SourceLocation,
): number | null {
  const value = fields[name];
  if (isBlank(value)) return null;
  const number = typeof value === "string" ? Number(value) : value;
  const isRight = typeof number === "number" && number > 0 && number < Infinity;
  if (isRight && (name !== "drawn" || number <= 1)) return number;
  const wantedName = { weight: "a number above 0", drawn: "a probability above 0" }[name];
  throw new CalibrationInputError(location, `${name} is ${quote(value)}; it must be ${wantedName}`);
}
