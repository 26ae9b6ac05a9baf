import type { Evaluation } from "evaluator-client";
import type { EvaluationStore } from "evaluator-client/cache";

/** The most answers that are kept; each has a few kilobytes. */
const MOST_ANSWERS = 1000;

/** Keeps answers for a time; the oldest is removed first. Takes a clock that is never set, in milliseconds. */
export function timedStore(
  seconds: number,
  now: () => number = () => performance.now(),
): EvaluationStore {
  const kept = new Map<string, { readonly evaluation: Evaluation; readonly endsAtMs: number }>();
  return {
    get(key) {
      const found = kept.get(key);
      if (found === undefined || now() < found.endsAtMs) return found?.evaluation;
      kept.delete(key);
      return undefined;
    },
    set(key, evaluation) {
      kept.delete(key);
      kept.set(key, { evaluation, endsAtMs: now() + 1000 * seconds });
      const [oldest = ""] = kept.keys();
      if (kept.size > MOST_ANSWERS) kept.delete(oldest);
    },
  };
}
