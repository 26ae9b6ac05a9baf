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
  const labelRecord = toObject(givenValue, location, "the label");
  if ("requestId" in labelRecord && !("feedback" in labelRecord || "truth" in labelRecord))
    return null;
  const labelFields = "feedback" in labelRecord ? toLabel(labelRecord) : labelRecord;
  const { truth, skipped: skippedValue } = labelFields;
  const recordId = idOf(labelFields, location);
  const isSkipped = yesOrNo(skippedValue) === 1;
  if (truth === undefined && !isSkipped && !("truth" in labelFields) && !("drawn" in labelFields)) {
    throw new CalibrationInputError(location, "has no truth; a label is { id, question?, truth }");
  }
  const isEmpty = isBlank(truth);
  if (isSkipped && !isEmpty) {
    const problem = `has skipped and the truth ${quote(truth)}; leave one empty`;
    throw new CalibrationInputError(location, problem);
  }
  const drawnCount = findNumber(labelFields, "drawn", location);
  const planHash = findPlan(labelFields["draw"], location);
  return {
    location,
    id: recordId,
    /** Null for a record that was skipped, or not reached. */
    truth: isEmpty ? null : truth,
    isSkipped,
    /** Whether a draw put the record into the sheet, whose rows are filled in from the top. */
    isDrawn: drawnCount !== null || planHash !== null,
    /** The plan of a promise that the record was drawn for, or null. */
    plan: planHash,
    /** Null if the answers know one question only. */
    question: toFieldText(labelFields, "question", location),
    /** Whether it corrects an answer that a person found wrong; the right ones are silent. */
    isOverride: labelFields["origin"] === "override",
    weight: findWeight(labelFields, drawnCount, location),
    group: Object.hasOwn(labelFields, by) ? toFieldText(labelFields, by, location) : null,
    /** Labels of one cluster, such as a thread, are not independent. */
    cluster: Object.hasOwn(labelFields, onePer) ? toFieldText(labelFields, onePer, location) : null,
    labeler: toFieldText(labelFields, "labeler", location),
  };
}

/** Feedback in a router's decision log is a label of the tier question. */
function toLabel({ requestId, feedback, ...fields }: Fields): Fields {
  if (requestId === undefined) return { feedback, ...fields };
  return { id: requestId, question: "tier", truth: feedback, labeler: "feedback" };
}

function isBlank(fieldValue: unknown): boolean {
  return fieldValue === undefined || fieldValue === null || fieldValue === "";
}

function toFieldText(
  labelFields: Fields,
  fieldName: string,
  location: SourceLocation,
): string | null {
  const fieldValue = labelFields[fieldName];
  if (isBlank(fieldValue)) return null;
  if (typeof fieldValue === "string") return fieldValue;
  if (typeof fieldValue === "number" || typeof fieldValue === "boolean") return String(fieldValue);
  return rejectField(location, [fieldName, fieldValue]);
}

function findPlan(drawField: unknown, location: SourceLocation): string | null {
  if (isBlank(drawField)) return null;
  if (isObject(drawField) && typeof drawField["plan"] === "string") return drawField["plan"];
  return rejectField(location, ["draw", drawField], "{ plan, from, at } of label or pick");
}

/** @throws CalibrationInputError for a weight that is not the inverse of `drawn`. */
function findWeight(labelFields: Fields, drawnShare: number | null, location: SourceLocation) {
  const statedWeight = findNumber(labelFields, "weight", location);
  if (drawnShare === null) return statedWeight;
  const isOther = statedWeight !== null && Math.abs(statedWeight * drawnShare - 1) > 1e-3;
  if (!isOther) return 1 / drawnShare;
  const problem = `has the weight ${statedWeight}, and drawn gives it ${Number((1 / drawnShare).toPrecision(6))}; leave one empty`;
  throw new CalibrationInputError(location, problem);
}

function findNumber(
  labelFields: Fields,
  fieldName: "weight" | "drawn",
  location: SourceLocation,
): number | null {
  const fieldValue = labelFields[fieldName];
  if (isBlank(fieldValue)) return null;
  const fieldNumber = typeof fieldValue === "string" ? Number(fieldValue) : fieldValue;
  const isRight = typeof fieldNumber === "number" && fieldNumber > 0 && fieldNumber < Infinity;
  if (isRight && (fieldName !== "drawn" || fieldNumber <= 1)) return fieldNumber;
  const wantedForm = { weight: "a number above 0", drawn: "a probability above 0" }[fieldName];
  return rejectField(location, [fieldName, fieldValue], wantedForm);
}
