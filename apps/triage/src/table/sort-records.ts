import type { TriageRecord } from "../output/triage-record.ts";

/** Sorts by a field: numbers from the highest, text from A, what is missing last, else input order. */
export function sortRecords(records: readonly TriageRecord[], field: string): TriageRecord[] {
  return records.toSorted((one, other) => compare(one[field] ?? null, other[field] ?? null));
}

function compare(one: string | number | null, other: string | number | null): number {
  if (typeof one === "number" && typeof other === "number") return other - one;
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return one < other ? -1 : Number(one > other);
}
