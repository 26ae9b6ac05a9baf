import type { Questions } from "./question.ts";
import { frozenCopy } from "./json.ts";

/** Questions to their frozen copy; null for those that were asked once. */
const copies = new WeakMap<object, Questions | null>();

/**
 * The frozen copy of questions that were asked before and have not changed since, else the questions
 * themselves. The copy stays the same, so {@link perQuestions} can keep by it what follows from it.
 */
export function constantQuestions(questions: Questions): Questions {
  const copy = copies.get(questions);
  return copy && isCopy(copy, questions) ? copy : questions;
}

/** Keeps a copy of checked questions when they are asked a second time; one use is not worth it. */
export function rememberQuestions(questions: Questions): void {
  const known = copies.get(questions);
  if (known === questions) return;
  const copy = known === undefined ? null : frozenCopy(questions);
  copies.set(questions, copy);
  if (copy !== null) copies.set(copy, copy);
}

/** Works something out from questions, and keeps it for those that are constant. */
export function perQuestions<TValue extends object | string | number>(
  workOut: (questions: Questions) => TValue,
): (questions: Questions) => TValue {
  const kept = new WeakMap<object, TValue>();
  return (questions) => {
    const known = kept.get(questions);
    if (known !== undefined) return known;
    const value = workOut(questions);
    if (copies.get(questions) === questions) kept.set(questions, value);
    return value;
  };
}

function isCopy(copy: unknown, value: unknown): boolean {
  if (copy === value) return true; // all that is frozen is not copied
  if (!isObject(copy) || !isObject(value)) return false;
  const copied = Object.keys(copy);
  const keys = Object.keys(value);
  if (keys.length !== copied.length) return false;
  for (const [index, key] of keys.entries()) {
    if (key !== copied[index] || !isCopy(copy[key], value[key])) return false;
  }
  return true;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
