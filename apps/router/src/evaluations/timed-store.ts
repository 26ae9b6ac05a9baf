import type { Evaluation } from "evaluator-client";
import type { EvaluationStore } from "evaluator-client/cache";

/** The most answers that are kept, and the most characters of all of them as JSON. */
const MOST_ANSWERS = 1000;
const MOST_CHARACTERS = 32 * 1024 * 1024;

interface Kept {
  readonly evaluation: Evaluation;
  readonly endsAtMs: number;
  readonly size: number;
}

/** Keeps answers for a time; the oldest is removed first. Takes a clock that is never set, in milliseconds. */
export function timedStore(
  seconds: number,
  now: () => number = () => performance.now(),
): EvaluationStore {
  const keptEntries = new Map<string, Kept>();
  let totalSize = 0;
  const remove = (entryKey: string) => {
    totalSize -= keptEntries.get(entryKey)?.size ?? 0;
    keptEntries.delete(entryKey);
  };
  return {
    get(entryKey) {
      const keptEntry = keptEntries.get(entryKey);
      if (keptEntry === undefined || now() < keptEntry.endsAtMs) return keptEntry?.evaluation;
      remove(entryKey);
      return undefined;
    },
    set(entryKey, evaluation) {
      remove(entryKey);
      const newEntry = {
        evaluation,
        endsAtMs: now() + 1000 * seconds,
        size: JSON.stringify(evaluation).length,
      };
      keptEntries.set(entryKey, newEntry);
      totalSize += newEntry.size;
      for (const oldestKey of keptEntries.keys()) {
        if (keptEntries.size <= MOST_ANSWERS && totalSize <= MOST_CHARACTERS) break;
        remove(oldestKey);
      }
    },
  };
}
