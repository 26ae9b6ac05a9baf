import { en } from "zod/locales";
import * as z from "zod/mini";

// Without a language zod/mini reports only "Invalid input". A language that the program set is kept.
if (z.config().localeError === undefined) z.config(en());

/** Maps every own value of a record; keys such as `__proto__` stay ordinary data. */
export function mapRecord<TValue, TResult>(
  record: Readonly<Record<string, TValue>>,
  map: (value: TValue, key: string) => TResult,
): Record<string, TResult> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
}

/** Returns whether a value is a JSON object: not null, not a list. */
export function isJsonRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a schema whose values are mapped after the check. */
export function mapped<TSchema extends z.core.$ZodType, TValue>(
  schema: TSchema,
  map: (value: z.output<TSchema>, payload: z.core.ParsePayload) => TValue,
) {
  return z.pipe(schema, z.transform(map));
}

/**
 * Returns a schema for a JSON object whose keys are data; `z.record` would drop an own `__proto__`.
 */
export function toRecord<TValue>(valueSchema: z.core.$ZodType<TValue>) {
  const schema = z.custom<Record<string, unknown>>(isJsonRecord, { error: "expected an object" });
  return mapped(schema, (record, { issues }): Record<string, TValue> =>
    mapRecord(record, (value, key) => {
      const { data, error } = z.safeParse(valueSchema, value, { reportInput: true });
      for (const { message, path, input } of error?.issues ?? []) {
        issues.push({ code: "custom", message, path: [key, ...path], input });
      }
      return error === undefined ? data : z.NEVER;
    }),
  );
}

/** Returns the first problem and its place: `rule 2, answers.scam: expected a probability`. */
export function describeIssue(error: z.core.$ZodError, entry: string): string {
  const [issue] = error.issues;
  const [index, ...path] = issue?.path ?? [];
  const fieldPlace = typeof index === "number" ? `${entry} ${index + 1}` : `the list of ${entry}s`;
  const fieldName = path.map(String).join(".");
  return `${fieldPlace}${fieldName === "" ? "" : `, ${fieldName}`}: ${issue?.message ?? "is not valid"}`;
}
