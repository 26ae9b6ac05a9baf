import { z } from "zod";
import { isJsonRecord } from "../json.ts";
import { contentSchema } from "../questions/content.ts";
import { type EvaluationInput, questionsSchema } from "../questions/question.ts";
import { type FieldError, VendorError } from "./vendor-error.ts";

const knownFields = new Set(["model", "state", "questions"]);

const bodySchema = z.object({
  model: z.string(),
  state: contentSchema,
  questions: questionsSchema("noul"),
});

/** A request to the vendor, its body read. */
export interface VendorRequest {
  readonly model: string;
  readonly input: EvaluationInput;
}

/**
 * Reads the body of a direct evaluation (contract section 4.5).
 *
 * @throws {VendorError} a 400 for an unknown top-level field, else a 422 with a list of fields.
 */
export function parseVendorInput(body: unknown): VendorRequest {
  const unknown = isJsonRecord(body)
    ? Object.keys(body).find((field) => !knownFields.has(field))
    : undefined;
  if (unknown !== undefined) throw new VendorError(400, `Unknown field: ${unknown}`);
  const { data, error } = bodySchema.safeParse(body, { reportInput: true });
  if (data === undefined) throw new VendorError(422, error.issues.map(toFieldError));
  const { model, ...input } = data;
  return { model, input };
}

function toFieldError({ path, message, input }: z.core.$ZodIssue): FieldError {
  const loc = path.map((key) => (typeof key === "number" ? key : String(key)));
  return { loc: ["body", ...loc], msg: message, type: "value_error", input: input ?? null };
}
