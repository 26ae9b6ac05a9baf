import type { LockedThreshold } from "./artifact.ts";
import { jsonHash } from "./math/json-hash.ts";
import { toHundredths } from "./thresholds/risk-coverage.ts";

/** Returns the key of an act in a promise about exactly some records: it changes with the id and the printed answer. */
export function actKey(id: string, act: string, sureness: number): string {
  return jsonHash([id, act, toHundredths(sureness)]);
}

const keys = new WeakMap<LockedThreshold, ReadonlySet<string>>();

/** Returns whether a promise is about records like the labelled ones, or about exactly some of which this is one. */
export function isAbout(locked: LockedThreshold, key: string | null): boolean {
  if (locked.these === undefined) return true;
  const known = keys.get(locked) ?? new Set(locked.these.records);
  keys.set(locked, known);
  return key !== null && known.has(key);
}
