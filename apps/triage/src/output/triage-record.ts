import type { Answer } from "evaluator-client";
import type { Mail } from "../input/mail.ts";
import type { KeptEvaluation } from "../journal/kept-answer.ts";
import type { AnswerField } from "../questions/answer-fields.ts";

/**
 * One output record; fields and their order are the contract's (section 4.7): id, date, from and
 * subject, then for each question its option, mean level or probability, and its confidence.
 */
export interface TriageRecord {
  readonly id: string;
  readonly date: string;
  readonly from: string;
  readonly subject: string;
  /** Null when the service gave none. */
  readonly [field: string]: string | number | null;
}

/** Returns the output record of a mail and the answers about it. */
export function toTriageRecord(
  mail: Mail,
  { answers, confidence }: KeptEvaluation,
  fields: readonly AnswerField[],
): TriageRecord {
  const values = fields.flatMap(({ questionId, field, confidenceField }) => {
    const value: [string, string | number | null] = [field, valueOf(answers[questionId])];
    const conf = (confidence as Record<string, number | null>)[questionId] ?? null;
    return confidenceField === null ? [value] : [value, [confidenceField, conf] as const];
  });
  return { ...headOf(mail), ...Object.fromEntries(values) };
}

/** Returns the output record of a mail no answer came for: the same fields as null, and the error. */
export function toFailedRecord(
  mail: Mail,
  error: string,
  fields: readonly AnswerField[],
): TriageRecord {
  const names = fields.flatMap(({ field, confidenceField }) => [field, confidenceField ?? []]);
  const nulls = Object.fromEntries(names.flat().map((name) => [name, null]));
  return { ...headOf(mail), ...nulls, error };
}

function headOf({ id, date, from, subject }: Mail) {
  return { id, date, from, subject };
}

function valueOf(answer: Answer | undefined): string | number | null {
  if (answer === undefined) return null;
  if (answer.type === "choice") return answer.choice;
  return answer.type === "score" ? answer.score : answer.probability;
}
