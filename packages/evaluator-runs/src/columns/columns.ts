import type { CalibrationArtifact } from "evaluator-calibration";
import { recalibrationOf } from "evaluator-calibration/statistics";
import { type Answer, questionKinds, type Questions, type ValueField } from "evaluator-client";
import type { CliContext } from "evaluator-kit";
import { type CalibratedAnswers, calibratedAnswers, readCalibration } from "../calibration.ts";
import type { RecordSource, RunRecord } from "../input/record-source.ts";
import type { KeptEvaluation } from "../journal/kept-answer.ts";
import type { ResultRecord } from "../output/write-records.ts";

type RecordColumn = RecordSource["columns"][number];

/** A column of the results. JSON, CSV, the table, queries, rules and reports read one list of them. */
export type Column = (RecordColumn & { readonly asked: null }) | AnswerColumn;

/** A column that shows a part of the answer to one question. */
export interface AnswerColumn {
  readonly name: string;
  readonly asked: AskedQuestion;
  /** Its answer, the confidence in it, or the answer before a calibration changed it. */
  readonly part: "value" | "confidence" | "printed";
  readonly of: (answers: CalibratedAnswers) => string | number | null;
}

type Values = ReturnType<(typeof questionKinds)[keyof typeof questionKinds]["values"]>;

/** A question as columns show it. */
export interface AskedQuestion {
  readonly id: string;
  /** The answer in short: its option, its mean level or its probability. */
  readonly short: Values[0];
  /** The probability of each option or level; null if there is none. */
  readonly distribution: Extract<ValueField, { form: "distribution" }> | null;
  readonly hasConfidence: boolean;
}

/** Returns questions as columns show them, in order. */
export function askedQuestions(questions: Questions): AskedQuestion[] {
  return Object.entries(questions).map(([id, question]) => {
    const questionKind = questionKinds[question.type];
    const [short, ...otherValues] = questionKind.values(question);
    const distribution = otherValues.find((value) => value.form === "distribution") ?? null;
    return { id, short, distribution, hasConfidence: questionKind.hasConfidence };
  });
}

/** Returns the columns of answers; for the default questions the contract's names (section 4.7). */
export function columnsOf(
  questions: Questions,
  { artifact = null }: { readonly artifact?: CalibrationArtifact | null } = {},
): AnswerColumn[] {
  return askedQuestions(questions).flatMap((question) => {
    const { id, short, hasConfidence } = question;
    const name = toCamelCase(id);
    // A calibration never changes the picked option.
    const isChanged =
      short.form !== "option" && artifact !== null && recalibrationOf(artifact, id) !== null;
    const valueIn: AnswerColumn["of"] = ({ answers }) => shortValue(question, answers[id]);
    const confidenceIn: AnswerColumn["of"] = (appliedAnswers) =>
      appliedAnswers.confidence[id] ?? null;
    const printedIn: AnswerColumn["of"] = (appliedAnswers) =>
      shortValue(question, appliedAnswers.printed[id]);
    const columns: AnswerColumn[] = [{ name, asked: question, part: "value", of: valueIn }];
    if (hasConfidence)
      columns.push({
        name: `${name}Conf`,
        asked: question,
        part: "confidence",
        of: confidenceIn,
      });
    if (isChanged)
      columns.push({ name: `${name}Printed`, asked: question, part: "printed", of: printedIn });
    return columns;
  });
}

/** Returns the short value of an answer to a question; null without one. */
export function shortValue(
  { short }: AskedQuestion,
  answer: Answer | undefined,
): string | number | null {
  return answer === undefined ? null : short.of(answer);
}

function toCamelCase(questionId: string): string {
  return questionId.replace(/[_\-\s]+(\S)/gu, (_, letter: string) => letter.toUpperCase());
}

/** How the records of a run are shown. */
export interface RecordSetup {
  /** Those of the record first. */
  readonly columns: readonly Column[];
  readonly calibration: CalibrationArtifact | null;
}

/** Reads how the records of a run are shown, with the calibration in a file, if one is named. */
export async function readSetup(
  questions: Questions,
  file: string | null | undefined,
  context: CliContext & { readonly source: RecordSource },
) {
  const { source } = context;
  const calibration = file == null ? null : await readCalibration(file, questions, context);
  const columns: Column[] = [
    ...source.columns.map((recordColumn) => Object.assign({ asked: null }, recordColumn)),
    ...columnsOf(questions, { artifact: calibration }),
  ];
  return { source, questions, calibration, columns };
}

/** A record of a run, and its result. */
export interface ResultRow {
  readonly input: RunRecord;
  /** The output record, created at its first use. */
  readonly record: ResultRecord;
  /** The kept answer; null without one. */
  readonly kept: KeptEvaluation | null;
  /** The state that was asked about; it may have more fields than the input. */
  readonly keptState?: unknown;
  /** Whether it was refused as too long; not known of a run in PostgreSQL. */
  readonly isRefused?: boolean;
}

/** Returns the output record of a record: its answers, recalibrated if there is a calibration, or why there are none. */
export function toRecord(
  record: RunRecord,
  { evaluation, error }: { evaluation: KeptEvaluation | null; error: string | null },
  { columns, calibration }: RecordSetup,
): ResultRecord {
  const appliedAnswers = evaluation && calibratedAnswers(evaluation, calibration);
  const columnValues = columns.map((resultColumn): [string, string | number | null] => {
    if (resultColumn.asked === null) return [resultColumn.name, resultColumn.of(record)];
    return [resultColumn.name, appliedAnswers === null ? null : resultColumn.of(appliedAnswers)];
  });
  const resultFields = Object.fromEntries([["id", record.id], ...columnValues]) as ResultRecord;
  if (appliedAnswers !== null) return resultFields;
  return { ...resultFields, error: error ?? "The answer is not in the journal; run again." };
}

/** Returns the names of all fields of the records of a run, in order. */
export function recordNames(
  { columns }: Pick<RecordSetup, "columns">,
  hasErrors: boolean,
): string[] {
  return ["id", ...columns.map(({ name }) => name), ...(hasErrors ? ["error"] : [])];
}

/** Returns the columns of answers among those of the results. */
export function answerColumns(columns: readonly Column[]): AnswerColumn[] {
  return columns.filter((resultColumn) => resultColumn.asked !== null);
}
