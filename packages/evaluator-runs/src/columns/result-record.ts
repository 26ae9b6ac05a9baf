import type { CalibrationArtifact } from "evaluator-calibration";
import type { Answer } from "evaluator-client";
import { type CalibratedAnswers, calibratedAnswers } from "../calibration.ts";
import type { RecordColumn, RunRecord } from "../input/record-source.ts";
import type { KeptEvaluation } from "../journal/kept-answer.ts";
import type { AnswerField } from "./answer-fields.ts";
import type { ResultRecord } from "../output/write-records.ts";

/** What is kept of the newest call about a mail. */
export interface KeptEnd {
  readonly evaluation: KeptEvaluation | null;
  /** Why there is no answer; null where nobody knows. */
  readonly error: string | null;
}

/** What the records of a run have in common. */
export interface RecordSetup {
  /** What a result repeats of its record. */
  readonly columns: readonly RecordColumn[];
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
  record: RunRecord,
  { evaluation, error }: KeptEnd,
  { columns, fields, calibration }: RecordSetup,
): ResultRecord {
  const head = headOf(record, columns);
  if (evaluation === null) {
    return toFailedRecord(head, error ?? "The answer is not in the journal; run again.", fields);
  }
  const given = calibration === null ? evaluation : calibratedAnswers(evaluation, calibration);
  return toAnsweredRecord(head, given, fields);
}

type GivenAnswers = Omit<CalibratedAnswers, "printed"> &
  Partial<Pick<CalibratedAnswers, "printed">>;

function toAnsweredRecord(
  head: ResultHead,
  { answers, confidence, printed = {} }: GivenAnswers,
  fields: readonly AnswerField[],
): ResultRecord {
  const values: [string, string | number | null][] = Object.entries(head);
  for (const { questionId, field, confidenceField, printedField } of fields) {
    values.push([field, answerValue(answers[questionId])]);
    if (confidenceField !== null) values.push([confidenceField, confidence[questionId] ?? null]);
    if (printedField !== null) values.push([printedField, answerValue(printed[questionId])]);
  }
  return Object.fromEntries(values) as ResultRecord;
}

// The same fields as null, and the error.
function toFailedRecord(
  head: ResultHead,
  error: string,
  fields: readonly AnswerField[],
): ResultRecord {
  const nulls = Object.fromEntries(answerNames(fields).map((name) => [name, null]));
  return { ...head, ...nulls, error };
}

type ResultHead = Readonly<Record<string, string>> & { readonly id: string };

function headOf(record: RunRecord, columns: readonly RecordColumn[]): ResultHead {
  const head: Record<string, string> & { id: string } = { id: record.id };
  for (const { name, of } of columns) head[name] = of(record);
  return head;
}

/** Returns what an answer comes to: its option, its mean level or its probability. */
export function answerValue(answer: Answer | undefined): string | number | null {
  if (answer === undefined) return null;
  if (answer.type === "choice") return answer.choice;
  return answer.type === "score" ? answer.score : answer.probability;
}

/** Returns the names of all fields of the records of a run, in order. */
export function recordNames(
  { columns, fields }: Pick<RecordSetup, "columns" | "fields">,
  hasErrors: boolean,
): string[] {
  const names = ["id", ...columns.map(({ name }) => name), ...answerNames(fields)];
  return hasErrors ? [...names, "error"] : names;
}

function answerNames(fields: readonly AnswerField[]): string[] {
  return fields.flatMap(({ field, confidenceField, printedField }) =>
    [field, confidenceField, printedField].filter((name) => name !== null),
  );
}
