import { isRecord } from "./questions/record-of.ts";

/** What stands at a path in parsed JSON, or undefined. */
export function valueAt(json: unknown, ...path: readonly string[]): unknown {
  let value = json;
  for (const key of path) value = isRecord(value) ? value[key] : undefined;
  return value;
}

/** The text at a path in parsed JSON, or null. */
export function textAt(json: unknown, ...path: readonly string[]): string | null {
  const value = valueAt(json, ...path);
  return typeof value === "string" ? value : null;
}

/** The list at a path in parsed JSON, or an empty one. */
export function listAt(json: unknown, ...path: readonly string[]): readonly unknown[] {
  const value = valueAt(json, ...path);
  return Array.isArray(value) ? value : [];
}
