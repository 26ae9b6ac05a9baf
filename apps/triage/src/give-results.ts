import { basename } from "node:path";
import type { AskMissingOptions, MissingOutcome } from "./asking/ask-missing.ts";
import type { CallPlan } from "./asking/plan-calls.ts";
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
export async function giveResults(plan: CallPlan, options: ResultsOptions): Promise<number> {
  const { job, journal, outcome, surroundings } = options;
  const { stdout, stderr } = surroundings;
  stderr.write(describeRun(plan, outcome));
  checkWholeRun(plan, options);
  const records = await toRecords(plan, options);
  await writeRecords(job.outputPath, records, job.run.format);
  await journal.addRun(runFacts(plan, options));
  stderr.write(describeFailures(outcome));
  const counts = `${records.length} of ${job.input.length}`;
  stderr.write(plainMessage`Wrote ${counts} records to ${job.outputPath}\n`);
  if (job.run.raw) await printLines(rawLines(plan, journal), stdout);
  const terminal = terminalOf(options);
  await printLines(triageTable(records, { ...job.run, fields: job.fields, terminal }), stdout);
  const isPartial = records.some(({ error }) => error !== undefined) || job.input.leftOutCount > 0;
  return isPartial ? 2 : 0;
}

async function toRecords(
  plan: CallPlan,
  { job, journal, outcome }: ResultsOptions,
): Promise<TriageRecord[]> {
  const records: TriageRecord[] = [];
  for await (const [{ mail, key }, kept] of journal.read(plan.calls())) {
    const error =
      outcome.failures.get(key)?.error ?? "The answer is not in the journal; run again.";
    if (kept === null) records.push(toFailedRecord(mail, error, job.fields));
    else records.push(toTriageRecord(mail, kept, job.fields));
  }
  return records;
}

async function* rawLines(plan: CallPlan, journal: Journal): AsyncGenerator<string, void> {
  for await (const [{ mail }, kept] of journal.read(plan.calls())) {
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

function runFacts(plan: CallPlan, options: ResultsOptions): RunFacts {
  const { job, outcome, surroundings } = options;
  const { totals, elapsedMs } = outcome;
  return {
    finishedAt: surroundings.clock.today().toISOString(),
    ...job.service,
    mails: plan.length,
    answered: totals.succeeded,
    failed: totals.failed,
    inputTokens: totals.inputTokens,
    costUsd: totals.costUsd,
    elapsedMs,
  };
}
