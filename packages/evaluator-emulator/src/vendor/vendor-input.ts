import * as z from "zod/mini";
import { isJsonRecord, mapped, toRecord } from "../json.ts";
import { type Content, contentSchema, imageSchema, joinParts } from "../questions/content.ts";
import type { EvaluationInput } from "../questions/evaluation-input.ts";
import { questionsSchema } from "../questions/kinds/kinds.ts";
import { vendorError } from "../request-error.ts";

const knownFields = new Set(["model", "state", "questions", "assets"]);

/** An image by its name; third parties' clients show the form (unverified). */
const assetSchema = z.pipe(
  mapped(
    z.object({
      type: z.optional(z.literal("image")),
      format: z.enum(["png", "jpg", "jpeg"]),
      data_base64: z.string(),
    }),
    ({ format, data_base64: base64 }): z.input<typeof imageSchema> => {
      return { format: format === "jpg" ? "jpeg" : format, base64 };
    },
  ),
  imageSchema,
);

const bodySchema = z.object({
  model: z.string(),
  state: contentSchema,
  questions: questionsSchema("vendor"),
  assets: z.optional(toRecord(assetSchema)),
});

/**
 * Reads the body of a direct evaluation (contract section 4.5).
 *
 * @throws {RequestError} 400 for an unknown top-level field and for an image that no text names, else
 * 422 with a list of fields.
 */
export function parseVendorInput(requestBody: unknown): { model: string; input: EvaluationInput } {
  const unknown = isJsonRecord(requestBody)
    ? Object.keys(requestBody).find((fieldName) => !knownFields.has(fieldName))
    : undefined;
  if (unknown !== undefined) throw vendorError(400, `Unknown field: ${unknown}`);
  const { data, error } = bodySchema.safeParse(requestBody, { reportInput: true });
  if (data === undefined) throw vendorError(422, error.issues.map(toFieldError));
  const { model, assets, ...input } = data;
  return { model, input: assets === undefined ? input : withImages(input, assets) };
}

/** Removes the parts that are names of images. */
function withImages(
  { state, questions }: EvaluationInput,
  assets: Readonly<Record<string, string>>,
): EvaluationInput {
  const names = Object.keys(assets);
  const text = JSON.stringify([state, questions]);
  const unnamedText = names.find((name) => !text.includes(JSON.stringify(name).slice(1, -1)));
  if (unnamedText !== undefined) {
    const message = "An asset is not referenced in the request.";
    throw vendorError(400, { error_type: "api_usage_error", message });
  }
  const isName = new Set<unknown>(names);
  const others: readonly unknown[] = Array.isArray(state)
    ? state.filter((item) => !isName.has(item))
    : [state];
  const parts = others.map((content) => ({ content: content as Content }));
  return { ...joinParts(parts), questions, images: Object.values(assets) };
}

function toFieldError({ path, message, input }: z.core.$ZodIssue) {
  const loc = path.map((propertyKey) =>
    typeof propertyKey === "number" ? propertyKey : String(propertyKey),
  );
  return { loc: ["body", ...loc], msg: message, type: "value_error", input: input ?? null };
}
