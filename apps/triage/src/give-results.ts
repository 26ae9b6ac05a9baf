import { basename } from "node:path";
import type { AskMissingOptions, MissingOutcome } from "./asking/ask-missing.ts";
import type { PlannedCall } from "./asking/plan-calls.ts";
import { checkWholeRun } from "./check-whole-run.ts";
import { describeFailures, describeRun } from "./describe-run.ts";
import type { Journal } from "./journal/journal.ts";
import type { RunFacts } from "./journal/run-facts.ts";
import { toRawLine } from "./output/raw-line.ts";
import { toFailedRecord, toTriageRecord, type TriageRecord } from "./output/triage-record.ts";
import { writeRecords } from "./output/write-records.ts";
import type { TextSink } from "./surroundings.ts";
import { type TableTerminal, triageTable } from "./table.ts";
import { joinPieces, type TextPieces } from "./text/join-pieces.ts";
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
  await checkWholeRun(calls, options);
  const records = await toRecords(calls, options);
  await writeRecords(job.outputPath, records, job.run.format);
  await journal.addRun(runFacts(calls, options));
  stderr.write(describeFailures(calls, outcome));
  const counts = `${records.length} of ${job.inputLength}`;
  stderr.write(plainMessage`Wrote ${counts} records to ${job.outputPath}\n`);
  if (job.run.raw) await printLines(rawLines(calls, journal), stdout);
  const terminal = terminalOf(options);
  await printLines(triageTable(records, { ...job.run, fields: job.fields, terminal }), stdout);
  return records.some(({ error }) => error !== undefined) ? 2 : 0;
}

async function toRecords(
  calls: readonly PlannedCall[],
  { job, journal, outcome }: ResultsOptions,
): Promise<TriageRecord[]> {
  const records: TriageRecord[] = [];
  for await (const [{ mail, key }, kept] of journal.read(calls)) {
    const error = outcome.failures.get(key) ?? "The answer is not in the journal; run again.";
    if (kept === null) records.push(toFailedRecord(mail, error, job.fields));
    else records.push(toTriageRecord(mail, kept, job.fields));
  }
  return records;
}

async function* rawLines(
  calls: readonly PlannedCall[],
  journal: Journal,
): AsyncGenerator<string, void> {
  for await (const [{ mail }, kept] of journal.read(calls)) {
    if (kept !== null) yield toRawLine(mail.id, kept);
  }
}

async function printLines(lines: TextPieces, sink: TextSink): Promise<void> {
  for await (const piece of joinPieces(lines)) sink.write(piece);
}

function terminalOf({ surroundings, job }: ResultsOptions): TableTerminal | null {
  const { stdout, env } = surroundings;
  if (stdout.isTTY !== true) return null;
  const fileName = basename(job.outputPath);
  return { width: stdout.columns, colours: !env["NO_COLOR"], fileName };
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
