import { z } from "zod";

/** An object with these fields only. */
export function fields<TShape extends z.ZodRawShape>(shape: TShape) {
  const names = Object.keys(shape).join(", ");
  const error: z.core.$ZodErrorMap = (issue) => {
    if (issue.code !== "unrecognized_keys") return "is not an object";
    return /(?:key|token|secret|password|authorization)$/i.test(issue.keys[0] ?? "")
      ? "is a secret; name its environment variable in apiKeyEnv"
      : `is not a known field; the fields are ${names}`;
  };
  return z.strictObject(shape, { error });
}

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
