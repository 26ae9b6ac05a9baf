import type { QuestionInput } from "./evaluation-input.ts";

const texts = new WeakMap<QuestionInput, string>();

/** A question's instructions and criteria as one JSON text, without its id. */
export function questionText(question: QuestionInput): string {
  const known = texts.get(question);
  if (known !== undefined) return known;
  const text = JSON.stringify([question.instructions, question.criteria]);
  texts.set(question, text);
  return text;
}
