import type { CalibrationArtifact } from "evaluator-calibration";
import type { Answer } from "evaluator-client";
import { type CalibratedAnswers, calibratedAnswers } from "../calibration.ts";
import type { Mail } from "../input/mail.ts";
import type { KeptEvaluation } from "../journal/kept-answer.ts";
import type { AnswerField } from "../questions/answer-fields.ts";
import type { TriageRecord } from "./write-records.ts";

/** What an output record repeats of its mail. */
export type RecordHead = Pick<Mail, "id" | "date" | "from" | "subject">;

/** What is kept of the newest call about a mail. */
export interface KeptEnd {
  readonly evaluation: KeptEvaluation | null;
  /** Why there is no answer; null where nobody knows. */
  readonly error: string | null;
}

/** What the records of a run have in common. */
export interface RecordSetup {
  readonly fields: readonly AnswerField[];
  readonly calibration: CalibrationArtifact | null;
}

/**
 * Returns the output record of a mail: its answers, recalibrated where there is a calibration, or why
 * there are none.
 *
 * @throws CliError when another model answered than the calibration was made for.
 */
export function toRecord(
  mail: RecordHead,
  { evaluation, error }: KeptEnd,
  { fields, calibration }: RecordSetup,
): TriageRecord {
  if (evaluation === null) {
    return toFailedRecord(mail, error ?? "The answer is not in the journal; run again.", fields);
  }
  const given = calibration === null ? evaluation : calibratedAnswers(evaluation, calibration);
  return toAnsweredRecord(mail, given, fields);
}

type GivenAnswers = Omit<CalibratedAnswers, "printed"> &
  Partial<Pick<CalibratedAnswers, "printed">>;

function toAnsweredRecord(
  mail: RecordHead,
  { answers, confidence, printed = {} }: GivenAnswers,
  fields: readonly AnswerField[],
): TriageRecord {
  const { id, date, from, subject } = mail;
  const values: [string, string | number | null][] = Object.entries({ id, date, from, subject });
  for (const { questionId, field, confidenceField, printedField } of fields) {
    values.push([field, answerValue(answers[questionId])]);
    if (confidenceField !== null) values.push([confidenceField, confidence[questionId] ?? null]);
    if (printedField !== null) values.push([printedField, answerValue(printed[questionId])]);
  }
  return Object.fromEntries(values) as TriageRecord;
}

// The same fields as null, and the error.
function toFailedRecord(
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

/** Returns what an answer comes to: its option, its mean level or its probability. */
export function answerValue(answer: Answer | undefined): string | number | null {
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
