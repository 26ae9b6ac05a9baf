import { hash } from "node:crypto";

const MOST_IDS = 10_000;

/** Returns an id as an artifact keeps it: the first 8 hex digits of its SHA-256. */
export function hashOfId(id: string): string {
  return hash("sha256", id).slice(0, 8);
}

/** Returns labelled ids as an artifact keeps them, sorted: the first 10,000 of them. */
export function hashesOf(ids: Iterable<string>): string[] {
  const kept = new Set<string>();
  for (const id of ids) {
    // A million hashes take as long as the whole report.
    if (kept.size === MOST_IDS) break;
    kept.add(hashOfId(id));
  }
  return [...kept].toSorted();
}
