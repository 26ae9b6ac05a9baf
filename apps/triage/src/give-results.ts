import type { AskMissingOptions, MissingOutcome } from "./asking/ask-missing.ts";
import type { PlannedCall } from "./asking/plan-calls.ts";
import { describeRun } from "./describe-run.ts";
import { InterruptedError, TriageError } from "./errors.ts";
import { recordLabel } from "./input/record-label.ts";
import type { RunFacts } from "./journal/run-facts.ts";
import { spentUsd } from "./money/budget.ts";
import { toRawLine } from "./output/raw-line.ts";
import { toFailedRecord, toTriageRecord, type TriageRecord } from "./output/triage-record.ts";
import { writeRecords } from "./output/write-records.ts";
import { triageTable } from "./table/triage-table.ts";
import { plainText } from "./text/plain-text.ts";

/** What the results are made of. */
export interface ResultsOptions extends AskMissingOptions {
  readonly outcome: MissingOutcome;
}

const failuresShown = 10;

/**
 * Writes the results of a run that went through, tells what it came to, prints the table; gives
 * the exit code, 0 or 2.
 *
 * @throws TriageError when the run did not go through.
 */
export async function giveResults(
  calls: readonly PlannedCall[],
  options: ResultsOptions,
): Promise<number> {
  const { job, journal, outcome, surroundings } = options;
  const { stdout, stderr } = surroundings;
  stderr.write(describeRun(calls, outcome));
  checkWholeRun(calls, options);
  const records = [...toRecords(calls, options)];
  await writeRecords(job.outputPath, records, job.run.format);
  journal.addRun(runFacts(calls, options));
  for (const line of describeFailures(calls, outcome)) stderr.write(line);
  stderr.write(`Wrote ${records.length} of ${job.inputLength} records to ${job.outputPath}\n`);
  if (job.run.raw) for (const line of rawLines(calls, options)) stdout.write(line);
  const colours = stdout.isTTY === true && !surroundings.env["NO_COLOR"];
  stdout.write(triageTable(records, { ...job.run, fields: job.fields, colours }));
  return outcome.failures.size > 0 ? 2 : 0;
}

function runFacts(calls: readonly PlannedCall[], options: ResultsOptions): RunFacts {
  const { job, outcome, surroundings } = options;
  const { totals, elapsedMs } = outcome;
  return {
    finishedAt: surroundings.clock.today().toISOString(),
    ...job.service,
    mails: calls.length,
    answered: totals.succeeded,
    failed: totals.failed,
    inputTokens: totals.inputTokens,
    costUsd: spentUsd(totals),
    elapsedMs,
  };
}

function checkWholeRun(calls: readonly PlannedCall[], options: ResultsOptions): void {
  const { journal, outcome, surroundings, job } = options;
  const { signal } = surroundings;
  const { finalError, isBudgetSpent } = outcome;
  if (!signal.aborted && finalError === null && !isBudgetSpent) return;
  const kept = calls.filter(({ key }) => journal.statusOf(key) === "answered").length;
  const waysOn = `${kept} of ${calls.length} answers are kept; run the same command again for the rest.`;
  if (signal.aborted) throw new InterruptedError(`Interrupted; no results were written. ${waysOn}`);
  const reason =
    finalError === null
      ? `The run costs more than --max-cost ${job.run.maxCostUsd}, which is to be raised`
      : plainText(finalError.message);
  throw new TriageError(`Stopped: ${reason}\nNo results were written. ${waysOn}`);
}

function* toRecords(
  calls: readonly PlannedCall[],
  { job, journal, outcome }: ResultsOptions,
): Generator<TriageRecord> {
  for (const { mail, key } of calls) {
    const kept = journal.read(key);
    const error = outcome.failures.get(key) ?? "The answer is not in the journal; run again.";
    yield kept === null
      ? toFailedRecord(mail, error, job.fields)
      : toTriageRecord(mail, kept, job.fields);
  }
}

function* rawLines(calls: readonly PlannedCall[], { journal }: ResultsOptions): Generator<string> {
  for (const { mail, key } of calls) {
    const kept = journal.read(key);
    if (kept !== null) yield toRawLine(mail.id, kept);
  }
}

function* describeFailures(
  calls: readonly PlannedCall[],
  { failures }: MissingOutcome,
): Generator<string> {
  const failed = calls.filter(({ key }) => failures.has(key));
  for (const { index, mail, key } of failed.slice(0, failuresShown)) {
    yield `Failed: ${recordLabel(index, mail)}: ${failures.get(key)}\n`;
  }
  if (failed.length > failuresShown) yield `Failed: ${failed.length - failuresShown} more\n`;
}
