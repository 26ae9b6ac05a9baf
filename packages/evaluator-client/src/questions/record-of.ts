import * as z from "zod";

/**
 * A schema for a plain object whose keys are data, whatever their name, and whose values match.
 * `z.record` drops an own `__proto__` key; here every own key is checked and the input is returned.
 */
export function recordOf<TValue>(valueSchema: z.ZodType<TValue>) {
  return z
    .custom<Record<string, TValue>>(isRecord, { error: "expected an object" })
    .superRefine((record, context) => {
      for (const [key, value] of Object.entries(record)) {
        const parsed = valueSchema.safeParse(value);
        for (const issue of parsed.error?.issues ?? []) {
          context.addIssue({ code: "custom", message: issue.message, path: [key, ...issue.path] });
        }
      }
    });
}

/** Whether a value is an object with string keys: not null, not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
