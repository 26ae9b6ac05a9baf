/** Gives the id of a record that may be wrong in every other way, or null when it has none. */
export function recordId(record: unknown): string | null {
  if (typeof record !== "object" || record === null || !("id" in record)) return null;
  return typeof record.id === "string" && record.id !== "" ? record.id : null;
}
