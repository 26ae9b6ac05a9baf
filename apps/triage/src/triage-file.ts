import { existsSync } from "node:fs";
import type { TriageRun } from "./arguments/run-arguments.ts";
import { askMissing } from "./asking/ask-missing.ts";
import { type PlannedCall, planCalls } from "./asking/plan-calls.ts";
import { giveResults } from "./give-results.ts";
import { type Job, readJob, requestFor } from "./job.ts";
import { Journal } from "./journal/journal.ts";
import { checkCost } from "./money/check-cost.ts";
import { describeEstimate, estimateRun, type RunEstimate } from "./money/estimate-run.ts";
import { checkOutput } from "./output/check-output.ts";
import type { Surroundings } from "./surroundings.ts";

const offlineNotice =
  "Offline: the emulator on this machine answers, from recordings or by matching words, not a model.\n";

/**
 * Triages one file: checks everything, asks what the journal has no answer to, writes the results,
 * prints the table; gives the exit code, 0 or 2.
 *
 * @throws TriageError when it cannot go on or is interrupted; no results are written then.
 */
export async function triageFile(run: TriageRun, surroundings: Surroundings): Promise<number> {
  const { stdout, stderr, confirm, signal } = surroundings;
  const job = await readJob(run, surroundings);
  if (run.dryRun) {
    stdout.write(dryRun(job));
    return 0;
  }
  await checkOutput(job.outputPath, job.inputPath);
  using journal = new Journal(job.journalPath, job.questions);
  const calls = planFor(job, journal);
  journal.place(calls.map(({ mail, key }) => ({ id: mail.id, key })));
  if (run.offline) stderr.write(offlineNotice);
  const missing = calls.filter(isMissing);
  const estimate = estimateFor(job, missing);
  stderr.write(describeEstimate(estimate, calls.length - missing.length));
  await checkCost(estimate, { ...run, confirm, signal });
  const outcome = await askMissing(missing, { job, journal, surroundings });
  return await giveResults(calls, { job, journal, outcome, surroundings });
}

function dryRun(job: Job): string {
  // Nothing is made for a look.
  using journal = existsSync(job.journalPath) ? new Journal(job.journalPath, job.questions) : null;
  const calls = planFor(job, journal);
  const missing = calls.filter(isMissing);
  return describeEstimate(estimateFor(job, missing), calls.length - missing.length);
}

function planFor(job: Job, journal: Journal | null): PlannedCall[] {
  const statusOf = (key: string) => journal?.statusOf(key) ?? "unknown";
  return planCalls(job.mails, { ...job, statusOf });
}

function isMissing({ status }: PlannedCall): boolean {
  return status !== "answered";
}

function estimateFor(job: Job, missing: readonly PlannedCall[]): RunEstimate {
  const { concurrency } = job.run;
  return estimateRun(requestsFor(job, missing), {
    concurrency,
    limits: job.transport.limits ?? {},
  });
}

function* requestsFor(job: Job, calls: readonly PlannedCall[]) {
  for (const { mail } of calls) yield requestFor(job, mail);
}
