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
  const entries = new Map<string, Kept>();
  let size = 0;
  const remove = (key: string) => {
    size -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  };
  return {
    get(key) {
      const keptEntry = entries.get(key);
      if (keptEntry === undefined || now() < keptEntry.endsAtMs) return keptEntry?.evaluation;
      remove(key);
      return undefined;
    },
    set(key, evaluation) {
      remove(key);
      const entry = {
        evaluation,
        endsAtMs: now() + 1000 * seconds,
        size: JSON.stringify(evaluation).length,
      };
      entries.set(key, entry);
      size += entry.size;
      for (const oldest of entries.keys()) {
        if (entries.size <= MOST_ANSWERS && size <= MOST_CHARACTERS) break;
        remove(oldest);
      }
    },
  };
}
