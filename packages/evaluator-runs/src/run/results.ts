import { basename } from "node:path";
import { CliError, printable, toPrintable } from "evaluator-kit";
import { printCount, printCounted, printDuration } from "../amounts.ts";
import { recordLabel, type RunRecord } from "../input/record-source.ts";
import { calibratedAnswers } from "../calibration.ts";
import type { NewMails } from "../journal/journal-reader.ts";
import type { KeptEvaluation } from "../journal/kept-answer.ts";
import type { RunFacts } from "../journal/run-facts.ts";
import type { Journal } from "../journal/journal.ts";
import { recordNames, toRecord } from "../columns/columns.ts";
import { toRawLine, type ResultRecord, writeRecords } from "../output/write-records.ts";
import { describeFilter } from "../rules/record-filter.ts";
import { type TableRow, type TableTerminal, toTableRow, resultTable } from "../columns/table.ts";
import type { AskOutcome, CallFailure } from "./ask-calls.ts";
import { interrupted } from "./interruption.ts";
import { type CallPlan, inGroups } from "./plan-calls.ts";
import type { RunContext } from "./run-context.ts";

/** So many failures are named, and the others counted. */
export const FAILURES_SHOWN = 10;
const LINES_AT_ONCE = 500;

/** What the results are made of. */
export interface ResultsOptions {
  readonly context: RunContext;
  readonly journal: Journal;
  readonly outcome: AskOutcome;
}

/**
 * Writes the results of a run that went through, tells what it came to, prints the table; returns
 * the exit code, 0 or 2.
 *
 * @throws CliError when the run did not go through.
 */
export async function giveResults(plan: CallPlan, options: ResultsOptions): Promise<number> {
  const { context, journal, outcome } = options;
  const { stderr, input, run, outputPath } = context;
  stderr.write(describeRun(plan, outcome));
  checkWholeRun(plan, options);
  const news = journal.newMails();
  const { records, shown } = await toRecords(plan, options, news);
  const hasErrors = failedIn(records) > 0;
  const names = recordNames(context, hasErrors);
  await writeRecords(outputPath, records, { format: run.format, names });
  journal.addRun(runFacts(plan, options));
  const failed = [...outcome.failures.values()];
  const inOrder = failed.toSorted((one, other) => one.index - other.index);
  stderr.write(describeFailures(inOrder, failed.length));
  const written = { records: records.length, failed: failedIn(records), of: input.length };
  stderr.write(describeWritten(written, outputPath));
  if (run.raw) await printLines(rawLines(plan, options), context);
  await printTable({ shown, of: records.length, news }, context);
  return hasErrors || input.leftOutCount > 0 ? 2 : 0;
}

function failedIn(records: readonly ResultRecord[]): number {
  return records.filter(({ error }) => error !== undefined).length;
}

/** What a file of results holds. */
export interface WrittenRecords {
  readonly records: number;
  /** How many of them have no answer. */
  readonly failed: number;
  /** How many records the input has. */
  readonly of: number;
}

/** Returns in one line what was written where, and how much of it has no answer. */
export function describeWritten({ records, failed, of }: WrittenRecords, path: string): string {
  const whole = printable`Wrote ${printCount(records)} of ${printCounted(of, "record")} to ${path}`;
  if (failed === 0) return `${whole}\n`;
  const verbs = failed === 1 ? "has no answer, and says" : "have no answer, and say";
  return `${whole}; ${printCount(failed)} of them ${verbs} why in "error"\n`;
}

/** Returns in one line what a run came to: mails, calls asked again, tokens, dollars, time. */
function describeRun(plan: CallPlan, { totals, elapsedMs }: AskOutcome): string {
  const notes = [
    note(totals.failed, "failed"),
    note(plan.count("answered"), "answered already"),
    note(plan.count("refused"), "refused as too long by an earlier run and not asked again"),
    note(plan.count("begun"), "in flight when an earlier run ended and asked again"),
    note(plan.count("changed"), "not in the journal as written and asked again"),
  ].join("");
  return (
    `Answered: ${printCount(totals.succeeded)}${notes}; ${printCount(totals.inputTokens)} tokens, ` +
    `${totals.describeCost()}, ${printDuration(elapsedMs)}.\n`
  );
}

function note(count: number, what: string): string {
  return count === 0 ? "" : `, ${printCount(count)} ${what}`;
}

function checkWholeRun(plan: CallPlan, { outcome, context }: ResultsOptions): void {
  const { signal, run } = context;
  const { finalError, isBudgetSpent, totals } = outcome;
  if (!signal.aborted && finalError === null && !isBudgetSpent) return;
  const kept = plan.count("answered") + totals.succeeded;
  const reason =
    finalError === null
      ? `The run costs more than --max-cost ${run.maxCost}, which is to be raised`
      : finalError.message;
  throw unfinished({ reason, kept, of: plan.length }, signal);
}

/** Returns an error that says why a run has not asked all it was to ask, and how it goes on. */
export function unfinished(
  { reason, kept, of }: { readonly reason: string; readonly kept: number; readonly of: number },
  signal: AbortSignal,
): CliError {
  const next = `${kept} of ${of} answers are kept; run the same command again for the rest.`;
  return signal.aborted
    ? interrupted(`Interrupted; no results were written. ${next}`, signal)
    : new CliError(`Stopped: ${toPrintable(reason)}\nNo results were written. ${next}`);
}

async function toRecords(
  plan: CallPlan,
  { context, journal }: ResultsOptions,
  news: NewMails | null,
): Promise<{ records: ResultRecord[]; shown: TableRow[] }> {
  const { questions, source } = context;
  const records: ResultRecord[] = [];
  const shown: TableRow[] = [];
  for await (const { record: input, key } of plan.calls()) {
    const evaluation = journal.answer(key, questions);
    const error = evaluation === null ? journal.endOf(input.id, questions).error : null;
    const record = toRecord(input, { evaluation, error }, context);
    records.push(record);
    if (!isInTable({ input, record, kept: evaluation, news }, context)) continue;
    shown.push(toTableRow(input, record, source));
  }
  return { records, shown };
}

/** Returns whether the table of a run shows a mail. */
export function isInTable(
  {
    input,
    record,
    kept,
    news,
  }: {
    readonly input: RunRecord;
    readonly record: ResultRecord;
    readonly kept: KeptEvaluation | null;
    readonly news: NewMails | null;
  },
  { calibration, isShown, source }: Pick<RunContext, "calibration" | "isShown" | "source">,
): boolean {
  if (isShown === null) return true;
  const answers = kept === null ? null : calibratedAnswers(kept, calibration).answers;
  const isNew = news?.ids.has(record.id) ?? false;
  return isShown({ record, day: source.dayOf(input), answers, isNew });
}

function runFacts(plan: CallPlan, { context, outcome }: ResultsOptions): RunFacts {
  const { totals, elapsedMs } = outcome;
  const { address, modelId } = context.service;
  return {
    finishedAt: context.clock.today().toISOString(),
    wire: address,
    modelId,
    mails: plan.length,
    answered: totals.succeeded,
    failed: totals.failed,
    inputTokens: totals.inputTokens,
    costUsd: totals.costUsd,
    elapsedMs,
    ...(totals.isUnpriced && { isUnpriced: true }),
    ...(context.calibration === null ? {} : { calibration: context.calibration }),
  };
}

/** Returns lines that name the first mails that failed, and count the rest. */
export function describeFailures(first: readonly CallFailure[], count: number): string {
  const lines = first
    .slice(0, FAILURES_SHOWN)
    .map(({ index, id, error }) => `Failed: ${recordLabel(index, id)}: ${error}\n`);
  const more = count - lines.length;
  return lines.join("") + (more > 0 ? `Failed: ${printCount(more)} more\n` : "");
}

async function* rawLines(plan: CallPlan, { context, journal }: ResultsOptions) {
  for await (const { record, key } of plan.calls()) {
    const kept = journal.answer(key, context.questions);
    if (kept !== null) yield toRawLine(record.id, kept);
  }
}

/** What the table of a run shows. */
export interface TableContent {
  readonly shown: readonly TableRow[];
  /** How many records the run has. */
  readonly of: number;
  readonly news: NewMails | null;
}

/** Prints the table of a run's records, and says which are new and which are left out. */
export async function printTable(
  { shown, of, news }: TableContent,
  context: RunContext,
): Promise<void> {
  const { run, columns, source, stderr } = context;
  if (news !== null) {
    const added = `${printCount(news.ids.size)} of ${printCount(of)}`;
    stderr.write(`New since the run of ${news.since.slice(0, 10)}: ${added} mails.\n`);
  }
  const filter = describeFilter(run);
  if (filter !== null) {
    const part = `${printCount(shown.length)} of ${printCount(of)}`;
    stderr.write(printable`The table shows ${part} mails: ${filter}.\n`);
  }
  const newIds = news?.ids ?? new Set();
  const table = resultTable(shown, {
    ...run,
    columns,
    layout: source.table,
    newIds,
    terminal: terminalOf(context),
  });
  await printLines(table, context);
}

/** Prints lines, many at once. */
export async function printLines(
  lines: Iterable<string> | AsyncIterable<string>,
  { stdout }: Pick<RunContext, "stdout">,
): Promise<void> {
  for await (const some of inGroups(lines, LINES_AT_ONCE)) stdout.write(some.join(""));
}

function terminalOf({ stdout, env, outputPath }: RunContext): TableTerminal | null {
  if (stdout.isTTY !== true) return null;
  return { width: stdout.columns, colours: !env["NO_COLOR"], fileName: basename(outputPath) };
}
