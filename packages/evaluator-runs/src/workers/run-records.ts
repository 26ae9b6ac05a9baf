import type { JsonObject, Questions } from "evaluator-client";
import type { PostgresRuns, RunInfo, RunRow } from "../postgres/index.ts";
import type { RunRecord } from "../input/record-source.ts";
import { fromKeptText, type KeptEvaluation } from "../journal/kept-answer.ts";
import { type RecordSetup, toRecord } from "../columns/columns.ts";
import type { ResultRecord } from "../output/write-records.ts";
import type { Service } from "../service.ts";

/** A record of a run as it is written, and what was kept of it. */
export interface AnsweredRow {
  readonly idx: number;
  readonly input: RunRecord;
  readonly record: ResultRecord;
  readonly kept: KeptEvaluation | null;
  /** Whether the call did not fail, and its answer is not there as it was written. */
  readonly isLost: boolean;
}

/** How the rows of a run become records. */
export interface RowsOptions extends RecordSetup {
  readonly questions: Questions;
}

/** Returns who answers in a run. */
export function serviceOfRun({ setup }: Pick<RunInfo, "setup">): Service {
  return { address: setup.wire, modelId: setup.modelId };
}

/** Returns the records of a run in input order, one at a time. */
export async function* answeredRows(
  runs: PostgresRuns,
  { run }: Pick<RunInfo, "run">,
  options: RowsOptions,
): AsyncGenerator<AnsweredRow> {
  for await (const row of runs.rows(run)) yield toAnsweredRow(row, options);
}

/** Returns a row of a run as its record. */
export function toAnsweredRow(row: RunRow, { questions, ...setup }: RowsOptions): AnsweredRow {
  const kept = row.evaluation === null ? null : fromKeptText(row.evaluation, questions);
  const input: RunRecord = {
    id: row.id,
    state: JSON.parse(row.state) as JsonObject,
    source: row.note === null ? null : (JSON.parse(row.note) as JsonObject),
  };
  const record = toRecord(input, { evaluation: kept, error: row.error }, setup);
  const isLost = row.evaluation === null && row.error === null;
  return { idx: row.idx, input, record, kept, isLost };
}
