import { isJsonRecord } from "./json-record.ts";

/** The JSON text of a value with the keys of every object in order, so equal data is equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, nested: unknown) =>
    isJsonRecord(nested) ? sortKeys(nested) : nested,
  );
}

function sortKeys(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).toSorted(([left], [right]) => (left < right ? -1 : 1)),
  );
}
