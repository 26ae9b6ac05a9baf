import { isRecord } from "./record-of.ts";

/** A copy of plain data that cannot change, or the data itself when it cannot either. */
export function frozenCopy<TData>(data: TData): TData {
  if (isFrozen(data)) return data;
  if (Array.isArray(data)) return Object.freeze(data.map(frozenCopy)) as TData;
  if (!isRecord(data)) return data;
  const entries = Object.entries(data).map(([key, item]) => [key, frozenCopy(item)]);
  return Object.freeze(Object.fromEntries(entries)) as TData;
}

function isFrozen(data: unknown): boolean {
  if (typeof data !== "object" || data === null) return true;
  return Object.isFrozen(data) && Object.values(data).every(isFrozen);
}
