import type { Answer } from "evaluator-client";
import type { CalibratedAnswers } from "../calibration.ts";
import type { Mail } from "../input/mail.ts";
import type { AnswerField } from "../questions/answer-fields.ts";
import type { TriageRecord } from "./write-records.ts";

/** What an output record repeats of its mail. */
export type RecordHead = Pick<Mail, "id" | "date" | "from" | "subject">;

/** Returns the output record of a mail and the answers about it. */
export function toTriageRecord(
  mail: RecordHead,
  { answers, confidence, printed }: CalibratedAnswers,
  fields: readonly AnswerField[],
): TriageRecord {
  const { id, date, from, subject } = mail;
  const values: [string, string | number | null][] = Object.entries({ id, date, from, subject });
  for (const { questionId, field, confidenceField, printedField } of fields) {
    values.push([field, valueOf(answers[questionId])]);
    if (confidenceField !== null) values.push([confidenceField, confidence[questionId] ?? null]);
    if (printedField !== null) values.push([printedField, valueOf(printed[questionId])]);
  }
  return Object.fromEntries(values) as TriageRecord;
}

/** Returns the output record of a mail no answer came for: the same fields as null, and the error. */
export function toFailedRecord(
  mail: RecordHead,
  error: string,
  fields: readonly AnswerField[],
): TriageRecord {
  const nulls = Object.fromEntries(answerNames(fields).map((name) => [name, null]));
  return { ...headOf(mail), ...nulls, error };
}

function headOf({ id, date, from, subject }: RecordHead) {
  return { id, date, from, subject };
}

function valueOf(answer: Answer | undefined): string | number | null {
  if (answer === undefined) return null;
  if (answer.type === "choice") return answer.choice;
  return answer.type === "score" ? answer.score : answer.probability;
}

/** Returns the names of all fields of the records of a run, in order. */
export function recordNames(fields: readonly AnswerField[], hasErrors: boolean): string[] {
  const names = ["id", "date", "from", "subject", ...answerNames(fields)];
  return hasErrors ? [...names, "error"] : names;
}

function answerNames(fields: readonly AnswerField[]): string[] {
  return fields.flatMap(({ field, confidenceField, printedField }) =>
    [field, confidenceField, printedField].filter((name) => name !== null),
  );
}
