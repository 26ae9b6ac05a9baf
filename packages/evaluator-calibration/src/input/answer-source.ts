import { type AnswerSource, basisOf } from "./answer-column.ts";
import { CalibrationInputError, type Fields, quote, type SourceLocation } from "./input-record.ts";

/** Reads the source of a record's answers. @throws CalibrationInputError for a name that is no text */
export function toSource(
  fields: Fields,
  location: SourceLocation,
  modelField = "modelId",
): AnswerSource {
  const toText = (name: string, value: unknown) => {
    if (typeof value === "string") return value;
    if (value === undefined || value === null) return null;
    throw new CalibrationInputError(location, `${name} is ${quote(value)}; it must be a text`);
  };
  const modelId = toText(modelField, fields["modelId"]);
  const wire = toText("wire", fields["wire"]);
  const basis = basisOf(modelId, wire, fields["basis"]);
  return { modelId, wire, questionHash: toText("questionHash", fields["questionHash"]), basis };
}
