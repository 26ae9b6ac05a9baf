import { basename } from "node:path";
import { printable } from "evaluator-cli-kit";
import type { PostgresRuns, RunInfo } from "evaluator-postgres";
import { printCount } from "../amounts.ts";
import { recordLabel } from "../input/mail.ts";
import { recordNames } from "../output/triage-record.ts";
import { toRawLine, type TriageRecord, writeRecords } from "../output/write-records.ts";
import type { RunContext } from "../run/run-context.ts";
import { triageTable } from "../table.ts";
import { answeredRows } from "./run-records.ts";

const FAILURES_SHOWN = 10;
/** The table is sorted, so its records are held; the file takes any number. */
const TABLE_AT_MOST = 200_000;

/** Writes the results of a run beside its input, prints the table, and returns the exit code. */
export async function giveRunResults(
  runs: PostgresRuns,
  info: RunInfo,
  context: RunContext,
): Promise<number> {
  const { run, stderr, stdout, outputPath, fields, input } = context;
  const hasTable = info.records <= TABLE_AT_MOST;
  const held: TriageRecord[] = [];
  const failures: string[] = [];
  let failed = 0;
  const records = async function* records(): AsyncGenerator<TriageRecord> {
    for await (const { idx, record, kept } of answeredRows(runs, info, context)) {
      if (kept === null && (failed += 1) <= FAILURES_SHOWN) {
        failures.push(`Failed: ${recordLabel(idx, record)}: ${record["error"]}\n`);
      }
      if (hasTable) held.push(record);
      yield record;
    }
  };
  const names = recordNames(fields, info.answered < info.records);
  await writeRecords(outputPath, records(), { format: run.format, names });
  const more = failed - failures.length;
  stderr.write(failures.join("") + (more > 0 ? `Failed: ${printCount(more)} more\n` : ""));
  stderr.write(printable`Wrote ${`${info.records} of ${input.length}`} records to ${outputPath}\n`);
  if (run.raw) {
    for await (const { record, kept } of answeredRows(runs, info, context)) {
      if (kept !== null) stdout.write(toRawLine(record.id, kept));
    }
  }
  if (hasTable) {
    const isTerminal = stdout.isTTY === true;
    const terminal = isTerminal
      ? { width: stdout.columns, colours: !context.env["NO_COLOR"], fileName: basename(outputPath) }
      : null;
    for (const line of triageTable(held, { ...run, fields, terminal })) stdout.write(line);
  } else {
    stderr.write(`No table is printed of more than ${printCount(TABLE_AT_MOST)} records.\n`);
  }
  return failed > 0 || input.leftOutCount > 0 ? 2 : 0;
}
