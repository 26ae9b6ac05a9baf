import { z } from "zod";

/** An object with these fields only; `advice` is the next step for a secret in another field. */
export function fields<TShape extends z.ZodRawShape>(
  fieldSchemas: TShape,
  secretAdvice = "name its environment variable in apiKeyEnv",
) {
  const fieldNames = Object.keys(fieldSchemas).join(", ");
  const error: z.core.$ZodErrorMap = (fieldIssue) => {
    if (fieldIssue.code !== "unrecognized_keys") return "is not an object";
    return /(?:key|token|secret|password|authorization)$/i.test(fieldIssue.keys[0] ?? "")
      ? `is a secret; ${secretAdvice}`
      : `is not a known field; the fields are ${fieldNames}`;
  };
  return z.strictObject(fieldSchemas, { error });
}

/** One of some names. */
export function oneOf<const TName extends string>(names: readonly TName[]) {
  return z.enum(names, `is none of ${names.join(", ")}`);
}

/** A list. */
export function listOf<TSchema extends z.ZodType>(itemSchema: TSchema) {
  return z.array(itemSchema, "is not a list");
}

/** A name of a key, a budget or an upstream. */
export const shortName = z
  .string("is missing, or no text")
  .regex(/^[\w.-]{1,64}$/, "is not a name of up to 64 letters, digits and the signs . _ -");

/** Accepts an absent value, which is null then. */
export function orNull<TSchema extends z.ZodType>(schema: TSchema) {
  return schema.nullable().default(null);
}

/** An object with any names. Zod would skip the name `__proto__` silently. */
export function record<TValue extends z.ZodType>(nameSchema: z.ZodString, valueSchema: TValue) {
  return z
    .unknown()
    .refine(
      (givenValue) => !Object.hasOwn(Object(givenValue), "__proto__"),
      "has the name __proto__",
    )
    .pipe(
      z.record(nameSchema, valueSchema, {
        error: (recordIssue) =>
          recordIssue.code === "invalid_key" ? recordIssue.issues[0]?.message : "is not an object",
      }),
    )
    .default({});
}
