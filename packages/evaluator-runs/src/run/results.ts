import { basename } from "node:path";
import { printable, printTexts, writeWholeFile } from "evaluator-kit";
import { printCount, printCounted } from "../amounts.ts";
import { recordNames, type ResultRow } from "../columns/columns.ts";
import { resultTable, type TableRow } from "../columns/table.ts";
import { recordLabel, type TableLayout } from "../input/record-source.ts";
import type { NewRecords } from "../store/stored-runs.ts";
import { formatRecords, type ResultRecord, toSafeTexts } from "../output/write-records.ts";
import { describeFilter, toAnswered } from "../rules/rules-file.ts";
import type { RunContext } from "./run-context.ts";

const FAILURES_SHOWN = 10;

/** A record of a run with its result; one that an earlier run refused is only counted. */
interface RunRow extends ResultRow {
  readonly index: number;
}

/** The results of a complete run. */
export interface CompleteRun {
  readonly records: number;
  /** Whether a record has no answer. */
  readonly hasErrors: boolean;
  readonly news: NewRecords | null;
  /** Reads the rows in input order, once for each pass. */
  readonly rows: () => AsyncIterable<RunRow>;
  /** No table is printed of more records, since it is sorted in memory. @default no limit */
  readonly tableAtMost?: number;
  /** Called after the results are written, or a part is answered. */
  readonly onWritten: () => Promise<void> | void;
}

/** Writes the results of a complete run, reports failures, prints the table; returns the exit code, 0 or 2. */
export async function giveResults(results: CompleteRun, context: RunContext): Promise<number> {
  const { records: count, hasErrors, news, rows } = results;
  const { run, stderr, outputPath, source, input: file, isShown, files, newId } = context;
  const { tableAtMost: limit = Infinity } = results;
  const layout = count <= limit ? source.table : null;
  const shownTableRows: TableRow[] = [];
  const failures: string[] = [];
  let [failedCount, refusedCount, partial] = [0, 0, 0];
  const records = async function* records(): AsyncGenerator<ResultRecord> {
    for await (const row of rows()) {
      const { index, input, record, kept: keptEvaluation, isRefused } = row;
      if (keptEvaluation === null) {
        failedCount += 1;
        refusedCount += Number(isRefused === true);
        const error = `Failed: ${recordLabel(index, record.id)}: ${record["error"]}\n`;
        if (isRefused !== true && failures.length < FAILURES_SHOWN) failures.push(error);
      } else if (keptEvaluation.refused !== undefined) {
        partial += 1;
        const names = keptEvaluation.refused.slice(0, 5).join(", ");
        const note = printable`${recordLabel(index, record.id)}: the model declined to answer ${names}; the other answers are kept`;
        if (failures.length < FAILURES_SHOWN) failures.push(`Refused: ${note}\n`);
      }
      const isAsked = layout !== null && (run.added?.has(input.id) ?? true);
      if (isAsked && (isShown === null || isShown(toAnswered(row, context, news)))) {
        shownTableRows.push({
          record,
          day: source.dayOf?.(input) ?? "",
          mark: source.markOf?.(input) ?? "",
        });
      }
      yield record;
    }
  };
  const names = recordNames(context, hasErrors);
  // An older file stays until all of the new one is written.
  const texts = formatRecords(records(), { format: run.format, names });
  const note = "Every answer is kept.";
  // The rows of the table are made as the texts are read.
  if (run.part) for await (const _ of texts);
  else await writeWholeFile(outputPath, texts, { failureNote: note, files, newId });
  await results.onWritten();
  const more = failedCount + partial - refusedCount - failures.length;
  stderr.write(failures.join("") + (more > 0 ? `Failed: ${printCount(more)} more\n` : ""));
  stderr.write(
    describeWritten({ records: count, failed: failedCount, of: file.length }, outputPath),
  );
  if (run.raw) await printTexts(toSafeTexts(rawLines(rows()), { format: "json" }), context);
  if (layout !== null)
    await printTable({ layout, shown: shownTableRows, of: count, news }, context);
  else if (source.table !== null)
    stderr.write(`Over ${printCount(limit)} records: no table is printed.\n`);
  return failedCount + partial > 0 || file.leftOutCount > 0 ? 2 : 0;
}

/** Returns each call's answers and provider metadata under the record's id: a line of JSON. */
async function* rawLines(rows: AsyncIterable<RunRow>): AsyncGenerator<string> {
  for await (const { record, kept: keptEvaluation } of rows) {
    if (keptEvaluation === null) continue;
    const { answers, providerMetadata } = keptEvaluation;
    yield `${JSON.stringify({ id: record.id, answers, providerMetadata })}\n`;
  }
}

/** Returns in one line how many of the input's records were written, and how many of them failed. */
function describeWritten(
  { records, failed: failedCount, of }: Readonly<Record<"records" | "failed" | "of", number>>,
  path: string,
): string {
  const whole = printable`Wrote ${printCount(records)} of ${printCounted(of, "record")} to ${path}`;
  if (failedCount === 0) return `${whole}\n`;
  const verbs = failedCount === 1 ? "has no answer, and says" : "have no answer, and say";
  return `${whole}; ${printCount(failedCount)} of them ${verbs} why in "error"\n`;
}

/** Returns why a run was stopped that may not cost its next call. */
export function describeMaximum(maxCostUsd: number | null): string {
  return `The run costs more than --max-cost ${maxCostUsd}; raise it.`;
}

/** The rows of a table, and how many records there are. */
interface ShownTable extends Pick<CompleteRun, "news"> {
  readonly layout: TableLayout;
  readonly shown: readonly TableRow[];
  readonly of: number;
}

async function printTable(
  { layout, shown: shownTableRows, of, news }: ShownTable,
  context: RunContext,
): Promise<void> {
  const { run, columns, source, stderr, stdout, outputPath } = context;
  if (news !== null) {
    const addedText = `${printCount(news.ids.size)} of ${printCount(of)}`;
    stderr.write(
      `New since the run of ${news.since.slice(0, 10)}: ${addedText} ${source.word}s.\n`,
    );
  }
  const filter = describeFilter(run);
  if (filter !== null) {
    const part = `${printCount(shownTableRows.length)} of ${printCount(of)}`;
    stderr.write(printable`The table shows ${part} ${source.word}s: ${filter}.\n`);
  }
  const newIds = news?.ids ?? new Set();
  const terminal = stdout.isTTY ? { width: stdout.columns, fileName: basename(outputPath) } : null;
  await printTexts(
    resultTable(shownTableRows, { ...run, columns, layout, newIds, terminal }),
    context,
  );
}
