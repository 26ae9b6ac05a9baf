import { type Fields, rejectField, type SourceLocation } from "./input-record.ts";

const bases = ["model", "recorded", "rule", "lexical"] as const;

/** The origin of an answer: a model, or a substitute of the emulator. */
export type Basis = (typeof bases)[number];

/** Returns the origin of answers, by the model and the wire that they name; or the one that is named. */
export function basisOf(modelId: string | null, wire: string | null, name?: unknown): Basis {
  const basis = bases.find((one) => one === name);
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
  fields: Fields,
  location: SourceLocation,
  modelField = "modelId",
): AnswerSource {
  const toText = (name: string, value: unknown) => {
    if (typeof value === "string") return value;
    if (value === undefined || value === null) return null;
    return rejectField(location, [name, value]);
  };
  const modelId = toText(modelField, fields["modelId"]);
  const wire = toText("wire", fields["wire"]);
  const basis = basisOf(modelId, wire, fields["basis"]);
  return { modelId, wire, questionHash: toText("questionHash", fields["questionHash"]), basis };
}
