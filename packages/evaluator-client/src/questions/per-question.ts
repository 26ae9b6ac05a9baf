import type { Question } from "./question.ts";
import { isRecord } from "./record-of.ts";

/**
 * Works something out from a question, and keeps it for a question that cannot change. Those that
 * `choice`, `score` and `boolean` build cannot; the same ones are asked about many states.
 */
export function perQuestion<TValue extends object | string | number>(
  workOut: (question: Question) => TValue,
): (question: Question) => TValue {
  const kept = new WeakMap<Question, TValue>();
  return (question) => {
    const known = kept.get(question);
    if (known !== undefined) return known;
    const value = workOut(question);
    if (cannotChange(question)) kept.set(question, value);
    return value;
  };
}

function cannotChange(question: unknown): boolean {
  return isRecord(question) && Object.isFrozen(question) && Object.isFrozen(question["criteria"]);
}
