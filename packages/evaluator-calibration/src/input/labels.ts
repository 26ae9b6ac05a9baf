import {
  CalibrationInputError,
  type Fields,
  idOf,
  type InputRecord,
  isObject,
  quote,
  rejectField,
  type SourceLocation,
  toObject,
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
  const record = toObject(givenValue, location, "the label");
  if ("requestId" in record && !("feedback" in record || "truth" in record)) return null;
  const value = "feedback" in record ? toLabel(record) : record;
  const { truth, skipped: skippedValue } = value;
  const id = idOf(value, location);
  const isSkipped = yesOrNo(skippedValue) === 1;
  if (truth === undefined && !isSkipped && !("truth" in value) && !("drawn" in value)) {
    throw new CalibrationInputError(location, "has no truth; a label is { id, question?, truth }");
  }
  const isEmpty = isBlank(truth);
  if (isSkipped && !isEmpty) {
    const problem = `has skipped and the truth ${quote(truth)}; leave one empty`;
    throw new CalibrationInputError(location, problem);
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
    weight: findWeight(value, drawnCount, location),
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
  return rejectField(location, [name, value]);
}

function findPlan(draw: unknown, location: SourceLocation): string | null {
  if (isBlank(draw)) return null;
  if (isObject(draw) && typeof draw["plan"] === "string") return draw["plan"];
  return rejectField(location, ["draw", draw], "{ plan, from, at }, as label and pick write it");
}

/** @throws CalibrationInputError for a weight that is not the inverse of `drawn`. */
function findWeight(fields: Fields, drawnShare: number | null, location: SourceLocation) {
  const weight = findNumber(fields, "weight", location);
  if (drawnShare === null) return weight;
  const isOther = weight !== null && Math.abs(weight * drawnShare - 1) > 1e-3;
  if (!isOther) return 1 / drawnShare;
  const problem = `has the weight ${weight}, and drawn gives it ${Number((1 / drawnShare).toPrecision(6))}; leave one empty`;
  throw new CalibrationInputError(location, problem);
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
  const wantedForm = { weight: "a number above 0", drawn: "a probability above 0" }[name];
  return rejectField(location, [name, value], wantedForm);
}
