import { z } from "zod";

/** An object with these fields only; `advice` is the next step for a secret in another field. */
export function fields<TShape extends z.ZodRawShape>(
  shape: TShape,
  advice = "name its environment variable in apiKeyEnv",
) {
  const names = Object.keys(shape).join(", ");
  const error: z.core.$ZodErrorMap = (issue) => {
    if (issue.code !== "unrecognized_keys") return "is not an object";
    return /(?:key|token|secret|password|authorization)$/i.test(issue.keys[0] ?? "")
      ? `is a secret; ${advice}`
      : `is not a known field; the fields are ${names}`;
  };
  return z.strictObject(shape, { error });
}

/** One of some names. */
export function oneOf<const TName extends string>(names: readonly TName[]) {
  return z.enum(names, `is none of ${names.join(", ")}`);
}

/** A list. */
export function listOf<TSchema extends z.ZodType>(item: TSchema) {
  return z.array(item, "is not a list");
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
export function record<TValue extends z.ZodType>(names: z.ZodString, values: TValue) {
  return z
    .unknown()
    .refine(
      (givenValue) => !Object.hasOwn(Object(givenValue), "__proto__"),
      "has the name __proto__",
    )
    .pipe(
      z.record(names, values, {
        error: (issue) =>
          issue.code === "invalid_key" ? issue.issues[0]?.message : "is not an object",
      }),
    )
    .default({});
}
