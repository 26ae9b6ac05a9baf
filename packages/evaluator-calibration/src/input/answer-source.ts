import { type Fields, rejectField, type SourceLocation } from "./input-record.ts";

const basisNames = ["model", "recorded", "rule", "lexical"] as const;

/** The origin of an answer: a model, or a substitute of the emulator. */
export type Basis = (typeof basisNames)[number];

/** Returns the origin of answers, by the model and the wire that they name; or the one that is named. */
export function basisOf(modelId: string | null, wire: string | null, basisName?: unknown): Basis {
  const basis = basisNames.find((knownBasis) => knownBasis === basisName);
  if (basis !== undefined) return basis;
  if (modelId === "local/rules-1") return "rule";
  if (modelId?.startsWith("local/") === true) return "lexical";
  return wire !== null && /^emulator\b/.test(wire) ? "recorded" : "model";
}

/** The origin of answers. Answers of two sources are never mixed. */
export interface AnswerSource {
  readonly modelId: string | null;
  readonly wire: string | null;
  readonly basis: Basis;
  readonly questionHash: string | null;
}

/** Reads the source of a record's answers. @throws CalibrationInputError for a name that is no text */
export function toSource(
  recordFields: Fields,
  location: SourceLocation,
  modelField = "modelId",
): AnswerSource {
  const toFieldText = (fieldName: string, fieldValue: unknown) => {
    if (typeof fieldValue === "string") return fieldValue;
    if (fieldValue === undefined || fieldValue === null) return null;
    return rejectField(location, [fieldName, fieldValue]);
  };
  const modelId = toFieldText(modelField, recordFields["modelId"]);
  const wire = toFieldText("wire", recordFields["wire"]);
  const basis = basisOf(modelId, wire, recordFields["basis"]);
  return {
    modelId,
    wire,
    questionHash: toFieldText("questionHash", recordFields["questionHash"]),
    basis,
  };
}
