import type { CalibrationArtifact } from "evaluator-calibration";
import type { Questions } from "evaluator-client";
import type { PostgresRuns, RunInfo, RunRow } from "evaluator-postgres";
import { calibratedAnswers } from "../calibration.ts";
import { fromKeptText, type KeptEvaluation } from "../journal/kept-answer.ts";
import { type RecordHead, toFailedRecord, toTriageRecord } from "../output/triage-record.ts";
import type { TriageRecord } from "../output/write-records.ts";
import type { AnswerField } from "../questions/answer-fields.ts";

const NO_ANSWER = "The answer is not in the journal; run again.";

/** A record of a run as it is written, and what was kept of it. */
export interface AnsweredRow {
  readonly idx: number;
  readonly record: TriageRecord;
  readonly kept: KeptEvaluation | null;
}

/** How the rows of a run become records. */
export interface RowsOptions {
  readonly questions: Questions;
  readonly fields: readonly AnswerField[];
  readonly calibration: CalibrationArtifact | null;
}

/** Returns the records of a run in input order, one at a time. */
export async function* answeredRows(
  runs: PostgresRuns,
  { run }: Pick<RunInfo, "run">,
  { questions, fields, calibration }: RowsOptions,
): AsyncGenerator<AnsweredRow> {
  for await (const row of runs.rows(run)) {
    const kept = row.evaluation === null ? null : fromKeptText(row.evaluation, questions);
    const head = headOf(row);
    const record =
      kept === null
        ? toFailedRecord(head, row.error ?? NO_ANSWER, fields)
        : toTriageRecord(head, calibratedAnswers(kept, calibration), fields);
    yield { idx: row.idx, record, kept };
  }
}

// The state has what the model reads of a mail: all of its record but the id.
function headOf({ id, state }: RunRow): RecordHead {
  const { date, from, subject } = JSON.parse(state) as RecordHead;
  return { id, date, from, subject };
}
