import type { AskMissingOptions, MissingOutcome } from "./asking/ask-missing.ts";
import type { PlannedCall } from "./asking/plan-calls.ts";
import { checkWholeRun } from "./check-whole-run.ts";
import { describeFailures, describeRun } from "./describe-run.ts";
import type { RunFacts } from "./journal/run-facts.ts";
import { toRawLine } from "./output/raw-line.ts";
import { toFailedRecord, toTriageRecord, type TriageRecord } from "./output/triage-record.ts";
import { writeRecords } from "./output/write-records.ts";
import type { TextSink } from "./surroundings.ts";
import { triageTable } from "./table/triage-table.ts";
import { joinPieces } from "./text/join-pieces.ts";
import { plainMessage } from "./text/plain-message.ts";

/** What the results are made of. */
export interface ResultsOptions extends Omit<AskMissingOptions, "price"> {
  readonly outcome: MissingOutcome;
}

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
  const records = calls.map((call) => toRecord(call, options));
  await writeRecords(job.outputPath, records, job.run.format);
  journal.addRun(runFacts(calls, options));
  stderr.write(describeFailures(calls, outcome));
  const counts = `${records.length} of ${job.inputLength}`;
  stderr.write(plainMessage`Wrote ${counts} records to ${job.outputPath}\n`);
  if (job.run.raw) await printLines(rawLines(calls, options), stdout);
  const colours = stdout.isTTY === true && !surroundings.env["NO_COLOR"];
  await printLines(triageTable(records, { ...job.run, fields: job.fields, colours }), stdout);
  return records.some(({ error }) => error !== undefined) ? 2 : 0;
}

function toRecord({ mail, key }: PlannedCall, options: ResultsOptions): TriageRecord {
  const { job, journal, outcome } = options;
  const kept = journal.read(key);
  if (kept !== null) return toTriageRecord(mail, kept, job.fields);
  const error = outcome.failures.get(key) ?? "The answer is not in the journal; run again.";
  return toFailedRecord(mail, error, job.fields);
}

function* rawLines(calls: readonly PlannedCall[], { journal }: ResultsOptions): Generator<string> {
  for (const { mail, key } of calls) {
    const kept = journal.read(key);
    if (kept !== null) yield toRawLine(mail.id, kept);
  }
}

async function printLines(lines: Iterable<string>, sink: TextSink): Promise<void> {
  for await (const piece of joinPieces(lines)) sink.write(piece);
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
    costUsd: totals.costUsd,
    elapsedMs,
  };
}
