import type { PostgresRuns, RunInfo } from "evaluator-postgres";
import { printCount } from "../amounts.ts";
import { recordNames } from "../output/triage-record.ts";
import { toRawLine, type TriageRecord, writeRecords } from "../output/write-records.ts";
import type { CallFailure } from "../run/ask-calls.ts";
import {
  describeFailures,
  describeWritten,
  FAILURES_SHOWN,
  isInTable,
  printLines,
  printTable,
} from "../run/results.ts";
import type { RunContext } from "../run/run-context.ts";
import { answeredRows } from "./run-records.ts";

/** The table is sorted, so its records are held; the file takes any number. */
const TABLE_AT_MOST = 200_000;

/** Writes the results of a run beside its input, prints the table, and returns the exit code. */
export async function giveRunResults(
  runs: PostgresRuns,
  info: RunInfo,
  context: RunContext,
): Promise<number> {
  const { run, stderr, outputPath, fields, input } = context;
  const hasTable = info.records <= TABLE_AT_MOST;
  const held: TriageRecord[] = [];
  const failures: CallFailure[] = [];
  const news = await runs.newIds(info);
  let failed = 0;
  const records = async function* records(): AsyncGenerator<TriageRecord> {
    for await (const { idx: index, record, kept } of answeredRows(runs, info, context)) {
      if (kept === null && (failed += 1) <= FAILURES_SHOWN) {
        failures.push({ index, id: record.id, error: String(record["error"]) });
      }
      if (hasTable && isInTable({ record, kept, news }, context)) held.push(record);
      yield record;
    }
  };
  const names = recordNames(fields, info.answered < info.records);
  await writeRecords(outputPath, records(), { format: run.format, names });
  stderr.write(describeFailures(failures, failed));
  stderr.write(describeWritten({ records: info.records, failed, of: input.length }, outputPath));
  if (run.raw) await printLines(rawLines(runs, info, context), context);
  if (hasTable) await printTable({ shown: held, of: info.records, news }, context);
  else stderr.write(`No table is printed of more than ${printCount(TABLE_AT_MOST)} records.\n`);
  return failed > 0 || input.leftOutCount > 0 ? 2 : 0;
}

async function* rawLines(runs: PostgresRuns, info: RunInfo, context: RunContext) {
  for await (const { record, kept } of answeredRows(runs, info, context)) {
    if (kept !== null) yield toRawLine(record.id, kept);
  }
}
