import { z } from "zod";
import { mapRecord } from "./map-record.ts";

/** Whether a value is a JSON object: not null, not a list. */
export function isJsonRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A schema for a JSON object whose keys are data; `z.record` would drop an own `__proto__`. */
export function recordOf<TValue>(valueSchema: z.ZodType<TValue>) {
  return z
    .custom<Record<string, unknown>>(isJsonRecord, { error: "expected an object" })
    .transform((record, context): Record<string, TValue> =>
      mapRecord(record, (value, key) => {
        const { data, error } = valueSchema.safeParse(value, { reportInput: true });
        for (const { message, path, input } of error?.issues ?? []) {
          context.addIssue({ code: "custom", message, path: [key, ...path], input });
        }
        return error === undefined ? data : z.NEVER;
      }),
    );
}
